// The error of a sum by the size of its blocks: large at both ends, where every weight
// passes through many additions, and small between them.

import { FARTHEST, FORMATS, MOST, NUMBERS, SEED } from "livepage/constants";
import { generator, handle, picture } from "livepage/picture.mjs";
import { circle, group, label, level, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences } from "livepage/text.mjs";

import { rounder } from "../rounding.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ of, order, n, power, all, sample }) {
  const last = Math.log2(n);
  const block = Math.min(power, last);
  const shown = all ? Array.from({ length: last + 1 }, (_, k) => k) : [block];
  const rows = cachedRows(n, sample);
  return {
    block: 2 ** block,
    inside: 2 ** block - 1,
    after: after(block, last, order),
    shown,
    errors: Object.keys(FORMATS).map((name) =>
      shown.map((k) => cachedError(rows, k, name, of, order)),
    ),
  };
}

/** How many additions the sum of a block of 2^k passes, at most. */
const after = (k, last, order) => (order === "blocks" ? 2 ** (last - k) - 1 : last - k);

/** Weights and values, row by row, with their exact sums and outputs. */
function drawn(n, sample) {
  const random = generator(sample * SEED + n);
  return Array.from({ length: NUMBERS / n }, () => {
    const scores = Array.from({ length: n }, () => FARTHEST * (2 * random() - 1));
    const values = Array.from({ length: n }, () => 2 * random() - 1);
    const m = Math.max(...scores);
    const weights = scores.map((s) => Math.exp(s - m));
    const exact = weights.reduce((sum, p) => sum + p, 0);
    const o = weights.reduce((sum, p, i) => sum + p * values[i], 0);
    return { weights, values, exact, output: o / exact };
  });
}

let cache = {};

/** The rows of `drawn`. The last ones are kept, because a drag asks for them each frame. */
function cachedRows(n, sample) {
  if (cache.n !== n || cache.sample !== sample)
    cache = { n, sample, rows: drawn(n, sample), errors: new Map() };
  return cache.rows;
}

/** An error of these rows, which a drag of the block size asks for again and again. */
function cachedError(rows, k, name, of, order) {
  const key = [k, name, of, order].join();
  if (!cache.errors.has(key))
    cache.errors.set(key, error(rows, 2 ** k, rounder(FORMATS[name]), of, order));
  return cache.errors.get(key);
}

/** The relative error with blocks of one size: the root of its mean square over rows. */
function error(rows, block, round, of, order) {
  const off = rows.map(({ weights, values, exact, output }) => {
    const kept = weights.map(round);
    const total = sum(kept, block, round, order);
    if (of === "l") return total / exact - 1;
    const terms = kept.map((p, i) => round(p * values[i]));
    return round(sum(terms, block, round, order) / total) - output;
  });
  const scale = of === "l" ? 1 : rms(rows.map(({ output }) => output));
  return rms(off) / scale;
}

const rms = (numbers) =>
  Math.sqrt(numbers.reduce((sum, x) => sum + x * x, 0) / numbers.length);

/** Each block one after another; then the blocks' sums so, or neighbours in pairs. */
function sum(terms, block, round, order) {
  let sums = [];
  for (let start = 0; start < terms.length; start += block)
    sums.push(serial(terms, start, start + block, round));
  if (order === "blocks") return serial(sums, 0, sums.length, round);
  while (sums.length > 1)
    sums = sums.filter((_, i) => i % 2 === 0).map((x, i) => round(x + sums[2 * i + 1]));
  return sums[0];
}

function serial(terms, start, stop, round) {
  let total = terms[start];
  for (let i = start + 1; i < stop; i++) total = round(total + terms[i]);
  return total;
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 470,
  left: 62,
  right: 640,
  errors: { high: 36, low: 262 },
  counts: { high: 316, low: 408 },
};
const NARROW = {
  width: 320,
  height: 480,
  left: 46,
  right: 274,
  errors: { high: 36, low: 262 },
  counts: { high: 318, low: 414 },
};
const [LEAST, MOST_ERROR] = [-8.5, 0.7]; // powers of ten, at the ends of the axis
const LOOKS = Object.keys(FORMATS);

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const last = Math.log2(state.n);
  const { left, right, errors, counts } = page;
  const along = (from, to, share) =>
    from + Math.max(0, Math.min(1, share)) * (to - from);
  const scene = {
    ...page,
    wide,
    words,
    last,
    x: (k) => along(left, right, k / MOST),
    e: (error) =>
      along(
        errors.low,
        errors.high,
        (Math.log10(error) - LEAST) / (MOST_ERROR - LEAST),
      ),
    c: (count) => along(counts.low, counts.high, Math.log2(Math.max(1, count)) / MOST),
  };
  return picture({ ...page, title, glide: 450 }, [
    axes(state, numbers, scene),
    additions(state, numbers, scene),
    measured(state, numbers, scene),
  ]);
}

function axes({ all, of, order }, { block }, scene) {
  const rooted = all && order === "blocks"; // in pairs √N means nothing
  const { x, e, c, left, right, errors, counts, words, wide, last } = scene;
  const at = x(Math.log2(block));
  const steps = Array.from({ length: last + 1 }, (_, k) => k);
  const through = (place, look) =>
    [errors, counts].map(({ low, high }, i) => upright(place, high, low, look(i)));
  const named = steps.filter((k) => (wide ? k % 2 === 0 || last < 8 : k % 4 === 0));
  return [
    label(words.errors[of], 0, errors.high - 20, {
      key: "errors",
      class: "caption",
      q: of === "l" ? "l" : "o",
    }),
    label(words.additions, 0, counts.high - 16, "caption"),
    label(words.blocks, right, counts.low + 46, "caption end"),
    [0, -2, -4, -6, -8].map((power) => [
      label(
        power ? `10^{${num(power, 0)}}` : "1",
        left - 8,
        e(10 ** power) + 4,
        "small end",
      ),
      level(e(10 ** power), left, right, "grid"),
    ]),
    [1, 64, 4096].map((count) => [
      label(grouped(count), left - 8, c(count) + 4, "small end"),
      level(c(count), left, right, "grid"),
    ]),
    named.map((k) => label(grouped(2 ** k), x(k), counts.low + 22, "small middle")),
    steps.map((k) => upright(x(k), counts.low, counts.low + 5, "axis")),
    [errors, counts].map(({ low, high }) => [
      level(low, left, right, "axis"),
      upright(left, high, low, "axis"),
    ]),
    through(at, (i) => ({ key: `at${i}`, class: "at" })),
    rooted && [
      through(x(last / 2), (i) => ({ key: `even${i}`, class: "even" })),
      label("√N", x(last / 2) + 5, errors.high + 4, "small halo"),
    ],
  ]
    .flat(Infinity)
    .filter(Boolean);
}

/** How many additions a weight passes: inside its block, after it, and in all. */
function additions({ order }, { shown, block }, { x, c, last, words, all }) {
  const inside = (k) => 2 ** k - 1;
  const rest = (k) => after(k, last, order);
  const series = [
    ["inside", inside],
    ["after", rest],
    ["both", (k) => inside(k) + rest(k)],
  ];
  const k = Math.log2(block);
  return group(
    { q: "p" },
    ...series.map(([name, count]) =>
      tag("path", {
        key: `count-${name}`,
        class: `count ${name}`,
        d: line(shown, x, (at) => c(count(at))),
      }),
    ),
    ...series.map(([name, count]) =>
      circle(x(k), c(count(k)), 4.5, { key: `c-${name}`, class: `dot ${name}` }),
    ),
  );
}

const line = (steps, x, y) =>
  steps
    .map((k, i) => `${i ? "L" : "M"}${x(k).toFixed(1)} ${y(k, i).toFixed(1)}`)
    .join("");

/** The error in each format: a line over all sizes, or the one that is chosen. */
function measured(
  { of },
  { shown, block, errors },
  { x, e, words, counts, right, left },
) {
  const at = shown.indexOf(Math.log2(block));
  return [
    ...errors.map((found, i) => {
      const y = (_, j) => e(found[j]);
      const end = found.length - 1;
      return group(
        { q: of === "l" ? "l" : "o" },
        tag("path", {
          key: `line${i}`,
          class: `series ${LOOKS[i]}`,
          d: line(shown, x, y),
        }),
        ...(end
          ? shown.map((k, j) =>
              circle(x(k), e(found[j]), 3, {
                key: `p${i}-${k}`,
                class: `dot ${LOOKS[i]}`,
              }),
            )
          : []),
        circle(x(shown[at]), e(found[at]), 6, {
          key: `here${i}`,
          class: `dot ${LOOKS[i]}`,
        }),
        label(words.formats[i], x(shown[end]) + 10, e(found[end]) + 5, {
          key: `name${i}`,
          class: `strong halo`,
        }),
      );
    }),
    handle({
      control: "power",
      axis: "x",
      x: x(Math.log2(block)),
      y: counts.low,
      low: left,
      high: right,
    }),
  ];
}

// ---- the words ---------------------------------------------------------------------

/** Two digits, as on the axis: a share, most often with a power of ten. */
function short(x) {
  if (x >= 0.1) return num(x, 2);
  const power = Math.floor(Math.log10(x));
  return x ? `${num(x / 10 ** power, 1)} × 10^{${num(power, 0)}}` : "0";
}

export function say(
  { of, order, n, all },
  { block, inside, after: rest, shown, errors },
  words,
) {
  const at = shown.indexOf(Math.log2(block));
  const lowest = errors.map((found) => 2 ** shown[found.indexOf(Math.min(...found))]);
  const values = {
    n: grouped(n),
    b: grouped(block),
    inside: grouped(inside),
    after: grouped(rest),
    root: grouped(Math.sqrt(n)),
  };
  errors.forEach((found, i) => {
    values[`e${i}`] = short(found[at]);
    values[`b${i}`] = grouped(lowest[i]);
  });
  const same = order === "blocks" && (block === 1 || block === n);
  const isOne = new Set(lowest).size === 1;
  return sentences(
    [
      words.say[rest ? order : "blocks"],
      same && words.sayRow,
      words.sayErrors[of],
      all && (isOne ? words.sayLowestOne : words.sayLowest),
      all && order === "blocks" && words.sayRoot,
    ],
    values,
  );
}

export function table({ n }, { shown, errors }, words) {
  const rows = shown.map((k, j) => [
    grouped(2 ** k),
    ...errors.map((found) => flat(short(found[j]))),
  ]);
  return {
    caption: fill(words.tableCaption, { n: grouped(n) }),
    head: words.tableHead,
    rows,
  };
}

/** A text for the table, which knows no markup: its powers as raised digits. */
const flat = (text) =>
  text.replace(/\^\{(.*?)\}/, (_, power) =>
    [...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join(""),
  );
