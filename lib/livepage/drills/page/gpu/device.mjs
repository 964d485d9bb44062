// The reader's GPU: opened, given a kernel, and what can go wrong with it.

import { patience } from "livepage/drills/page";

import { Trouble, rest, unless } from "./trouble.mjs";

const LOST_MS = 200; // until a device that failed is known to be lost
const HUNG_MS = 5000; // until a submission is given up; each should take 40
const LIMITS = [
  "maxComputeWorkgroupStorageSize",
  "maxComputeInvocationsPerWorkgroup",
  "maxComputeWorkgroupSizeX",
  "maxComputeWorkgroupSizeY",
  "maxStorageBufferBindingSize",
  "maxBufferSize",
];
const PROGRAMS = /swiftshader|llvmpipe|lavapipe|basic render|software/i;

/** Open a device with all that its adapter has; null if that cannot be. */
function opened(adapter, signal) {
  const features = ["timestamp-query", "subgroups"];
  const asked = adapter
    .requestDevice({
      requiredFeatures: features.filter((name) => adapter.features.has(name)),
      requiredLimits: Object.fromEntries(
        LIMITS.map((name) => [name, adapter.limits[name]]),
      ),
    })
    .catch(() => null);
  return unless(signal, asked, (device) => device?.destroy());
}

export class Gpu {
  /** Open the GPU with all that it has; `unnamed` is what one without a name is called. */
  static async open(signal, unnamed) {
    const { gpu } = navigator;
    if (!isSecureContext) throw new Trouble("notSecure");
    if (!gpu) throw new Trouble("noWebgpu");
    const asked = gpu.requestAdapter({ powerPreference: "high-performance" });
    const adapter = await unless(
      signal,
      asked.catch(() => null),
    );
    if (!adapter) throw new Trouble("noAdapter");
    const device = await opened(adapter, signal);
    if (!device) throw new Trouble("noAdapter");
    return new Gpu(adapter, device, signal, unnamed);
  }

  constructor({ info = {} }, device, signal, unnamed) {
    const { vendor, architecture, description } = info;
    const family = [vendor, architecture].filter(Boolean).join(" ");
    this.device = device;
    this.signal = signal;
    this.name = description || family || unnamed;
    const all = `${vendor} ${architecture} ${description}`;
    this.isSoftware = Boolean(info.isFallbackAdapter) || PROGRAMS.test(all);
    this.subgroup = device.features.has("subgroups") ? (info.subgroupMinSize ?? 0) : 0;
    this.hasClock = device.features.has("timestamp-query");
    this.fault = null;
    device.addEventListener("uncapturederror", (event) => {
      event.preventDefault(); // said on the page, not in the console
      this.fault ??= event.error.message;
    });
  }

  /** Why a kernel does not fit, as a word and its slots; nothing if it does. */
  refuses({ threads, shared, block, bindings }) {
    const most = this.device.limits;
    const checks = [
      ["tooManyThreads", threads, most.maxComputeInvocationsPerWorkgroup],
      ["tooManyThreads", block[0], most.maxComputeWorkgroupSizeX],
      ["tooManyThreads", block[1], most.maxComputeWorkgroupSizeY],
      ["tooMuchShared", shared, most.maxComputeWorkgroupStorageSize],
      ["tooManyArrays", bindings.length + 1, most.maxStorageBuffersPerShaderStage],
    ];
    const found = checks.find(([, asked, allowed]) => asked > allowed);
    return found && { word: found[0], slots: { asked: found[1], most: found[2] } };
  }

  /** Compile a text; give what the compiler says, and the pipeline if there is one. */
  async compile({ wgsl, bindings }) {
    const { device } = this;
    device.pushErrorScope("validation");
    const module = device.createShaderModule({ code: wgsl });
    const scope = device.popErrorScope();
    const told = Promise.all([module.getCompilationInfo(), scope]);
    const [{ messages }] = await this.wait(told, false);
    const said = messages.map(({ type, message, lineNum }) => [type, message, lineNum]);
    if (said.some(([type]) => type === "error")) return { said };
    const kinds = ["uniform", "storage"];
    for (const { written } of bindings) {
      kinds.push(written ? "storage" : "read-only-storage");
    }
    const visibility = GPUShaderStage.COMPUTE;
    const layout = device.createBindGroupLayout({
      entries: kinds.map((type, binding) => ({
        binding,
        visibility,
        buffer: { type },
      })),
    });
    const made = device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module, entryPoint: "main" },
    });
    try {
      return { said, layout, pipeline: await this.wait(made, false) };
    } catch (error) {
      if (error instanceof Trouble) throw error;
      return { said: [["error", error.message, 0]] };
    }
  }

  /** Make buffers; say so if the device has no room for them. */
  async hold(make) {
    const { device } = this;
    device.pushErrorScope("out-of-memory");
    let made = null;
    try {
      made = make();
    } catch {
      // The browser itself has no room.
    }
    const refused = await this.wait(device.popErrorScope());
    if (refused || !made) throw new Trouble("noMemory");
    return made;
  }

  /** Submit, and wait until it is done. */
  async submit(encoder) {
    this.device.queue.submit([encoder.finish()]);
    await this.wait(this.device.queue.onSubmittedWorkDone());
  }

  /** Wait for the device: not for ever, not if it is lost, not if the reader stops. */
  async wait(promise, isLaunch = true) {
    let timer;
    const hung = new Promise((_, reject) => {
      const ms = patience(HUNG_MS);
      const late = () => reject(new Trouble("hung", { n: ms / 1000 }));
      if (isLaunch) timer = setTimeout(late, ms);
    });
    const lost = this.device.lost.then(({ message }) => {
      throw new Trouble("lost", { message });
    });
    try {
      const found = await unless(this.signal, Promise.race([promise, hung, lost]));
      if (this.fault) throw new Trouble("refused", { message: this.fault });
      return found;
    } catch (error) {
      // Of a device that is lost, other promises may be the first to fail.
      if (!(error instanceof Trouble)) await Promise.race([lost, rest(LOST_MS)]);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Bring numbers back. */
  async read(buffer, Type = Uint32Array) {
    const { size } = buffer;
    const usage = GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST;
    const copy = await this.hold(() => this.device.createBuffer({ size, usage }));
    const encoder = this.device.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, size);
    this.device.queue.submit([encoder.finish()]);
    await this.wait(copy.mapAsync(GPUMapMode.READ));
    const found = new Type(copy.getMappedRange().slice(0));
    copy.destroy();
    return found;
  }

  /** What hangs goes on, but nobody waits for it; another run opens another device. */
  close() {
    this.device.destroy();
  }
}
