// The reader's roofline: what a loop of multiplications and additions reaches here.

import { Launch } from "./launch.mjs";

const BLOCKS = 4096;
const THREADS = 64;
const CHAINS = 8; // that do not wait for each other
const ROUNDS = 4; // in a turn of the loop
const LONG_MS = 20;
const MOST_TURNS = 1 << 20;
const TIMES = 3;

const chains = Array.from({ length: CHAINS }, (_, i) => `x${i}`);
const round = chains.map((x) => `${x} = ${x} * P.a + P.b;`).join(" ");
const WGSL = `struct Launch { first: u32, turns: u32, a: f32, b: f32 }
@group(0) @binding(0) var<uniform> P: Launch;
@group(0) @binding(1) var<storage, read_write> trouble: atomic<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(${THREADS})
fn main(@builtin(workgroup_id) at: vec3u, @builtin(local_invocation_index) t: u32) {
  ${chains.map((x, i) => `var ${x} = f32(t + ${i}u);`).join(" ")}
  for (var turn = 0u; turn < P.turns; turn += 1u) {
    ${Array(ROUNDS).fill(round).join("\n    ")}
  }
  sums[(P.first + at.x) * ${THREADS}u + t] = ${chains.join(" + ")};
}
`;
const bindings = [{ name: "sums", type: "f32", written: true }];
const bits = (x) => new Uint32Array(Float32Array.of(x).buffer)[0];

/** Operations a second, in thousands of millions. */
export async function roofline(gpu) {
  const made = { wgsl: WGSL, bindings, standIn: Infinity, far: Infinity };
  const kernel = { made, ...(await gpu.compile(made)) };
  for (let turns = 4; ; turns *= 4) {
    const header = [0, turns, bits(0.999), bits(0.001)];
    const data = new Float32Array(BLOCKS * THREADS);
    const launch = await Launch.open(gpu, kernel, header, [{ name: "sums", data }]);
    let { ms } = await launch.run(BLOCKS);
    const isLong = ms >= LONG_MS || turns >= MOST_TURNS;
    for (let time = 1; isLong && time < TIMES; time += 1) {
      ms = Math.min(ms, (await launch.run(BLOCKS)).ms);
    }
    launch.close();
    const operations = 2 * BLOCKS * THREADS * CHAINS * ROUNDS * turns;
    if (isLong) return operations / ms / 1e6;
    kernel.pace /= 4;
  }
}
