// Runs kernels on the page's GPU: jobs in, numbers out. Numbers travel as bytes in base64.

const toBytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const fromBytes = (bytes) => {
  const signs = [];
  for (let i = 0; i < bytes.length; i += 4096) {
    signs.push(String.fromCharCode(...bytes.subarray(i, i + 4096)));
  }
  return btoa(signs.join(""));
};

let device = null;

/** Open the page's GPU with all that it has; say what it is. */
export async function open() {
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) return null;
  const names = ["maxComputeWorkgroupStorageSize", "maxComputeInvocationsPerWorkgroup"];
  const requiredLimits = Object.fromEntries(
    names.map((name) => [name, adapter.limits[name]]),
  );
  const requiredFeatures = ["subgroups"].filter((name) => adapter.features.has(name));
  device = await adapter.requestDevice({ requiredLimits, requiredFeatures });
  const { subgroupMinSize } = requiredFeatures.length ? adapter.info : {};
  return { subgroup: subgroupMinSize ?? 0, shared: requiredLimits[names[0]] };
}

/** Compile a kernel: what the compiler says, and the pipeline if there is one. */
async function compile({ wgsl, bindings }) {
  const module = device.createShaderModule({ code: wgsl });
  const { messages } = await module.getCompilationInfo();
  const said = messages.map(({ type, message, lineNum }) => [type, message, lineNum]);
  if (said.some(([type]) => type === "error")) return { said };
  const buffers = [{ type: "uniform" }, { type: "storage" }];
  for (const { written } of bindings) {
    buffers.push({ type: written ? "storage" : "read-only-storage" });
  }
  const visibility = GPUShaderStage.COMPUTE;
  const layout = device.createBindGroupLayout({
    entries: buffers.map((buffer, binding) => ({ binding, visibility, buffer })),
  });
  const pipeline = await device.createComputePipelineAsync({
    layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module, entryPoint: "main" },
  });
  return { said, layout, pipeline };
}

const made = new Map(); // kernels that are compiled

/** Run one job; give the bytes of each array that the kernel writes. */
async function launch(job) {
  if (!made.has(job.wgsl)) made.set(job.wgsl, compile(job));
  const { said, layout, pipeline } = await made.get(job.wgsl);
  if (!pipeline) return { said };
  const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, MAP_READ } = GPUBufferUsage;
  const hold = (bytes, kind) => {
    const size = Math.ceil(Math.max(bytes.length, 4) / 4) * 4;
    const usage = kind | COPY_SRC | COPY_DST;
    const buffer = device.createBuffer({ size, usage });
    device.queue.writeBuffer(buffer, 0, bytes);
    return buffer;
  };
  const words = new Uint8Array(Uint32Array.from(job.words).buffer);
  const buffers = [hold(words, UNIFORM), hold(new Uint8Array(4), STORAGE)];
  for (const data of job.data) buffers.push(hold(toBytes(data), STORAGE));
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(0, device.createBindGroup({ layout, entries }));
  pass.dispatchWorkgroups(job.blocks);
  pass.end();
  const wanted = [
    buffers[1],
    ...buffers.slice(2).filter((_, i) => job.bindings[i].written),
  ];
  const copies = wanted.map(({ size }, i) => {
    const copy = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
    encoder.copyBufferToBuffer(wanted[i], 0, copy, 0, size);
    return copy;
  });
  device.queue.submit([encoder.finish()]);
  const found = await Promise.all(
    copies.map(async (copy) => {
      await copy.mapAsync(GPUMapMode.READ);
      return new Uint8Array(copy.getMappedRange()).slice();
    }),
  );
  for (const buffer of [...buffers, ...copies]) buffer.destroy();
  return { said, trouble: found[0][0], data: found.slice(1).map(fromBytes) };
}

/** Run several jobs, some of them at the same time. */
export async function launchAll(jobs) {
  const found = [];
  const more = async () => {
    while (jobs.length) {
      const place = found.push(null) - 1;
      const job = jobs.shift();
      try {
        found[place] = await launch(job);
      } catch (error) {
        found[place] = { said: [["error", String(error), 0]] };
      }
    }
  };
  await Promise.all([more(), more(), more()]);
  return found;
}
