// Attention in a size that a GPU is timed with: its numbers, and what is right.

const WIDTH = 64; // numbers in a row
export const FIRST = 256; // rows and keys of the first size that is timed
export const MOST = 16384;
export const CHECKED = 200; // rows of the launch whose every row is compared; ragged

/** What there is to do: a multiplication and an addition for each score and weight. */
export const work = (n) => 4 * n * n * WIDTH;

/** Arguments by name, for `n` rows and keys of one head; the same in every run. */
export function problem(n) {
  const [q, k, v] = [1, 2, 3].map((seed) => normal(seed, n * WIDTH));
  const scale = Math.fround(WIDTH ** -0.5);
  return { n, Q: q, K: k, V: v, lengths: Int32Array.of(n), scale, left: n, right: n };
}

/** The types of a drill's arguments, which have no heads, in the size that is timed. */
export const kindsOf = (args) =>
  args.map(([, kind, value]) => {
    if (kind !== "number") return ["array", "float32", 2];
    return Number.isInteger(value) ? "int64" : "float64";
  });

/** The arguments of a kernel, in its order; an array has its shape with it. */
export function launch(given, { takes, rows, kinds }) {
  const { n } = given;
  const empty = { O: n * WIDTH, LSE: n };
  const args = takes.map((name, i) => {
    if (!Array.isArray(kinds[i])) return name === "group" ? 1 : given[name];
    const data = given[name] ?? new Float32Array(empty[name]).fill(NaN);
    const shape = { lengths: [1], LSE: [1, n] }[name] ?? [1, n, WIDTH];
    return { name, data, shape: shape.slice(-kinds[i][2]) };
  });
  return { grid: Math.ceil(n / rows), args };
}

/** The rows of O and LSE in float64, by the definition. */
export function expected({ n, Q, K, V, scale }, row) {
  const scores = Float64Array.from({ length: n }, (_, j) => {
    let s = 0;
    for (let c = 0; c < WIDTH; c += 1) s += Q[row * WIDTH + c] * K[j * WIDTH + c];
    return s * scale;
  });
  const m = scores.reduce((a, b) => Math.max(a, b));
  const weights = scores.map((s) => Math.exp(s - m));
  const l = weights.reduce((a, b) => a + b);
  const o = new Float64Array(WIDTH);
  weights.forEach((p, j) => {
    for (let c = 0; c < WIDTH; c += 1) o[c] += (p / l) * V[j * WIDTH + c];
  });
  return { O: o, LSE: [m + Math.log(l)] };
}

/** Normal numbers. */
function normal(seed, count) {
  let state = seed;
  const draw = () => {
    state = (state * 1664525 + 1013904223) % 2 ** 32;
    return (state + 0.5) / 2 ** 32;
  };
  const one = () => Math.sqrt(-2 * Math.log(draw())) * Math.cos(2 * Math.PI * draw());
  return Float32Array.from({ length: count }, one);
}
