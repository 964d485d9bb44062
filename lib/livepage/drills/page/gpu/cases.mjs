// The cases of a drill, on the reader's GPU: each launch has to give what is expected.

import { CLOSE, distance, flat, number, shapeOf } from "./compare.mjs";
import { launchAll } from "./together.mjs";
import { prepare } from "./translator.mjs";
import { Trouble } from "./trouble.mjs";

/** Launch every case; give how many there are, the largest error, and the text. */
export async function runCases({ gpu, translator, say }, text, payload) {
  const cases = [...payload.cases, ...payload.larger];
  const kernels = new Map(); // those of cases that differ in their numbers only
  let worst = 0;
  let wgsl = "";
  for (const [i, one] of cases.entries()) {
    say("runsCase", { n: i + 1, all: cases.length });
    const args = one.args.map(argument);
    const job = jobOf(text, payload.function, one, args);
    const key = JSON.stringify(job);
    if (!kernels.has(key)) kernels.set(key, await prepare(gpu, translator, job));
    const kernel = kernels.get(key);
    const [found] = await launchAll({ gpu, translator }, kernel, one.grid, [args]);
    wgsl = kernel.made.wgsl;
    for (const [name, right] of Object.entries(one.expected)) {
      const off = distance(found[name] ?? [], flat(right));
      if (!(off <= CLOSE)) throw wrongNumbers(payload, one, wgsl);
      worst = Math.max(worst, off);
    }
  }
  return { count: cases.length, worst, wgsl };
}

/** The simulator has passed the cases; of a larger launch it knows nothing. */
function wrongNumbers({ cases }, one, wgsl) {
  const word = cases.includes(one) ? "offCase" : "offLarger";
  const [x, y = 1] = one.grid;
  return new Trouble(word, { name: one.name, blocks: x * y }, { wgsl });
}

export function jobOf(text, name, { names, block }, args) {
  const kinds = args.map(({ kind }) => kind);
  return { text, function: name, names, whole: true, block, kinds };
}

export function argument([name, kind, value]) {
  if (kind === "number") {
    const whole = Number.isInteger(value);
    return { name, kind: whole ? "int64" : "float64", value: number(value) };
  }
  const shape = kind === "out" ? value : shapeOf(value);
  const size = shape.reduce((a, b) => a * b, 1);
  const data =
    kind === "out"
      ? new Float32Array(size).fill(NaN)
      : (kind === "ints" ? Int32Array : Float32Array).from(flat(value));
  const type = kind === "ints" ? "int32" : "float32";
  return { name, kind: ["array", type, shape.length], data, shape };
}
