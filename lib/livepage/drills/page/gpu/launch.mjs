// One launch of a kernel, ready to be repeated: its arrays on the GPU, cut into slices.

import { Trouble } from "./trouble.mjs";

const SLICE_MS = 40; // what one submission should take: drivers reset a GPU after 2 s
const FASTER = 4; // by how much a slice may be longer than the one before it
const FIRST_PART = 16; // of a launch whose pace is not known

export class Launch {
  /** Bring the arguments to the GPU: numbers, and arrays with their shapes. */
  static async open(gpu, kernel, header, args) {
    const { made } = kernel;
    const arrays = args.filter((one) => typeof one === "object");
    const { STORAGE, UNIFORM, COPY_SRC, COPY_DST, QUERY_RESOLVE } = GPUBufferUsage;
    const size = (bytes) => Math.max(16, Math.ceil(bytes / 16) * 16);
    const make = (bytes, usage) =>
      gpu.device.createBuffer({
        size: size(bytes),
        usage: usage | COPY_SRC | COPY_DST,
      });
    const buffers = await gpu.hold(() => [
      make(4 * header.length, UNIFORM),
      make(4, STORAGE),
      ...arrays.map(({ data }) => make(data.byteLength, STORAGE)),
    ]);
    const ticks = gpu.hasClock ? make(16, QUERY_RESOLVE) : null;
    const opened = new Launch(gpu, kernel, buffers, ticks);
    gpu.device.queue.writeBuffer(buffers[0], 0, Uint32Array.from(header));
    for (const [i, { data }] of arrays.entries()) {
      gpu.device.queue.writeBuffer(buffers[i + 2], 0, cut(data, made));
    }
    opened.arrays = arrays;
    return opened;
  }

  constructor(gpu, kernel, buffers, ticks) {
    Object.assign(this, { gpu, kernel, buffers, ticks });
    const entries = buffers.map((buffer, binding) => ({
      binding,
      resource: { buffer },
    }));
    this.group = gpu.device.createBindGroup({ layout: kernel.layout, entries });
    this.clock = ticks && gpu.device.createQuerySet({ type: "timestamp", count: 2 });
  }

  /** Run it; give how many milliseconds it took, by the GPU's clock if it has one. */
  async run(blocks) {
    const { kernel } = this;
    const most = this.gpu.device.limits.maxComputeWorkgroupsPerDimension;
    let [byGpu, byWall, slices] = [0, 0, 0];
    for (let first = 0; first < blocks;) {
      const paced = kernel.pace ? kernel.pace * SLICE_MS : blocks / FIRST_PART;
      const count = Math.min(blocks - first, Math.ceil(paced), most);
      const took = await this.slice(first, count);
      byGpu += took.byGpu;
      byWall += took.byWall;
      const pace = count / Math.max(took.byWall, 0.01);
      kernel.pace = Math.min(pace, (kernel.pace ?? pace) * FASTER);
      first += count;
      slices += 1;
    }
    return { ms: byGpu > 0 ? byGpu : byWall, slices };
  }

  async slice(first, count) {
    const { gpu, clock, ticks, buffers, kernel, group } = this;
    gpu.device.queue.writeBuffer(buffers[0], 0, Uint32Array.of(first));
    const encoder = gpu.device.createCommandEncoder();
    const [beginningOfPassWriteIndex, endOfPassWriteIndex] = [0, 1];
    const edges = { beginningOfPassWriteIndex, endOfPassWriteIndex };
    const timed = clock ? { timestampWrites: { querySet: clock, ...edges } } : {};
    const pass = encoder.beginComputePass(timed);
    pass.setPipeline(kernel.pipeline);
    pass.setBindGroup(0, group);
    pass.dispatchWorkgroups(count);
    pass.end();
    if (clock) encoder.resolveQuerySet(clock, 0, 2, ticks, 0);
    const start = performance.now();
    await gpu.submit(encoder);
    const byWall = performance.now() - start;
    if (!clock) return { byGpu: 0, byWall };
    const [begin, end] = await gpu.read(ticks, BigUint64Array);
    return { byGpu: Math.max(0, Number(end - begin) / 1e6), byWall };
  }

  /** What the kernel wrote, by what the arguments are called here. */
  async results() {
    const { made } = this.kernel;
    const [signs] = await this.gpu.read(this.buffers[1]);
    if (signs & 2) throw new Trouble("endless");
    const found = {};
    for (const [i, { type, written }] of made.bindings.entries()) {
      if (!written) continue;
      const Type = { f32: Float32Array, i32: Int32Array, u32: Uint32Array }[type];
      const raw = await this.gpu.read(this.buffers[i + 2], Type);
      const { name, data } = this.arrays[i];
      found[name] = restored(raw.subarray(0, data.length), made);
    }
    return { arrays: found, inStep: !(signs & 1) };
  }

  close() {
    for (const buffer of this.buffers) buffer.destroy();
    this.ticks?.destroy();
    this.clock?.destroy();
  }
}

/** An array as the GPU takes it: a number stands for infinity. */
function cut(data, { standIn }) {
  if (!(data instanceof Float32Array)) return data;
  return data.map((x) =>
    Number.isNaN(x) ? x : Math.min(standIn, Math.max(-standIn, x)),
  );
}

const restored = (data, { far }) =>
  data instanceof Float32Array
    ? data.map((x) => (Math.abs(x) >= far ? x * Infinity : x))
    : data;
