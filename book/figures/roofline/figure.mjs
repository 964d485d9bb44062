// Operations per byte against the two ceilings of a GPU: what memory allows, what
// arithmetic allows.

import { picture } from "livepage/picture.mjs";
import { circle, group, label, level, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

// As in book/data/devices.json, with the documents: TFLOP/s in fp16 and fp32, TB/s.
const GPUS = {
  T4: [65, 8.1, 0.3],
  A100: [312, 19.5, 2.039],
  H100: [989.5, 67, 3.35],
  H200: [989.5, 67, 4.8],
};
const TERA = 1e12;

export function compute({ gpu, format, n, d, rows }) {
  const half = format === "fp16";
  const peak = GPUS[gpu][half ? 0 : 1] * TERA;
  const bandwidth = GPUS[gpu][2] * TERA;
  const size = half ? 2 : 4;
  const [work, table, strip] = [4 * n * n * d, n * n * size, n * d * size];
  const time = (operations, moved) => Math.max(operations / peak, moved / bandwidth);
  const tiled = 2 * strip + 2 * strip * Math.ceil(n / rows);
  const product = time(work / 2, table + 2 * strip);
  const times = [2 * product + time(0, 2 * table), time(work, tiled)];
  return {
    peak,
    bandwidth,
    ridge: peak / bandwidth,
    intensity: [work / (4 * table + 4 * strip), work / tiled],
    rate: times.map((each) => work / each),
    gain: times[0] / times[1],
  };
}

// ---- the picture -------------------------------------------------------------------

const [X_LOW, X_HIGH] = [4, 1024]; // operations per byte
const [Y_LOW, Y_HIGH] = [1, 2000]; // TFLOP/s

const WIDE = { width: 720, height: 380, left: 58, right: 708, high: 40, low: 318 };
const NARROW = { width: 320, height: 372, left: 42, right: 314, high: 44, low: 300 };

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const { left, right, high, low } = page;
  const between = (value, from, to) =>
    Math.log(Math.min(to, Math.max(from, value)) / from) / Math.log(to / from);
  const scene = {
    ...page,
    words,
    wide,
    x: (value) => left + between(value, X_LOW, X_HIGH) * (right - left),
    y: (value) => low - between(value / TERA, Y_LOW, Y_HIGH) * (low - high),
  };
  return picture({ ...page, title, glide: 500 }, [
    roof(numbers, scene),
    drops(numbers, scene),
    limits(numbers, scene),
    axes(scene),
    programs(numbers, scene),
  ]);
}

/** The slope that memory allows, and the flat part that arithmetic allows. */
function roof({ peak, bandwidth, ridge }, { x, y, right, low }) {
  const start = begin(bandwidth);
  const outline =
    `${x(start)} ${y(start * bandwidth)}L${x(ridge)} ${y(peak)}` +
    `L${right} ${y(peak)}`;
  return [
    tag("path", {
      key: "under",
      class: "under",
      d: `M${x(start)} ${low}L${outline}L${right} ${low}Z`,
    }),
    tag("path", { key: "roof", class: "roof", d: `M${outline}` }),
    upright(x(ridge), y(peak), low, { key: "ridge", class: "even" }),
  ];
}

/** From each program down to the operations it does for a byte. */
const drops = ({ intensity, rate }, { x, y, low }) =>
  intensity.map((each, i) =>
    upright(x(each), y(rate[i]), low, {
      key: `drop${i}`,
      q: i ? "o" : "s",
      class: i ? "drop tiles" : "drop",
    }),
  );

/** What the slope, the flat part and the corner between them are. */
function limits(numbers, scene) {
  const { y, left, right, words, wide } = scene;
  const { peak, bandwidth, ridge } = numbers;
  const tera = {
    peak: short(peak / TERA),
    rate: short(bandwidth / TERA),
    ridge: short(ridge),
  };
  const corner = ridgeName(numbers, scene);
  return [
    label(fill(words.peak, tera), right, y(peak) - 8, {
      key: "peak",
      class: "small end",
    }),
    label(fill(words.rate, tera), left + 8, aboveSlope(bandwidth, { y, wide }), {
      key: "rate",
      class: "small",
    }),
    label(fill(words.ridge, tera), corner.at, corner.height, {
      key: "ridge-name",
      class: corner.look,
    }),
  ];
}

/** Where the corner is named: at its foot, beside the programs' lines; over it where both
 *  sides of the foot are taken, unless the slope is named there. */
function ridgeName({ peak, bandwidth, ridge, intensity }, scene) {
  const { x, y, left, right, low, wide } = scene;
  const [foot, room, over] = [x(ridge), wide ? 80 : 66, y(peak) - 26];
  const free = (from, to) =>
    from > left &&
    to < right &&
    !intensity.some((each) => from < x(each) && x(each) < to);
  const after = { at: foot + 6, height: low - 8, look: "small halo" };
  if (free(foot, foot + room)) return after;
  if (free(foot - room, foot))
    return { ...after, at: foot - 6, look: "small halo end" };
  const apart = Math.abs(over - aboveSlope(bandwidth, scene)) > ROW;
  const slope = foot < left + NAME + room && !apart;
  return slope ? after : { at: foot, height: over, look: "small halo middle" };
}

/** Where the slope begins, at the left or at the bottom, and the height of its name. */
const begin = (bandwidth) => Math.max(X_LOW, (Y_LOW * TERA) / bandwidth);
const aboveSlope = (bandwidth, { y, wide }) =>
  y(begin(bandwidth) * bandwidth * 1.6) - (wide ? 28 : 50);

function axes({ x, y, left, right, high, low, words, wide }) {
  const across = wide
    ? [4, 8, 16, 32, 64, 128, 256, 512, 1024]
    : [4, 16, 64, 256, 1024];
  return [
    label(words.y, 0, high - 24, "caption"),
    label(words.x, right, low + 44, "caption end"),
    [1, 10, 100, 1000].map((value) => [
      label(grouped(value), left - 8, y(value * TERA) + 4, "small end"),
      level(y(value * TERA), left - 4, left, "axis"),
    ]),
    across.map((value) => [
      label(
        grouped(value),
        x(value),
        low + 20,
        value === X_HIGH ? "small end" : "small middle",
      ),
      upright(x(value), low, low + 4, "axis"),
    ]),
    level(low, left, right, "axis"),
    upright(left, high, low, "axis"),
  ];
}

const [NAME, RIDGE, PEAK, ROW] = [98, 66, 136, 17]; // room for names: across, and from row to row

/** How fast both programs may be: three steps with the table, and tile by tile. */
function programs(numbers, scene) {
  const { intensity, rate, ridge, peak, bandwidth } = numbers;
  const { x, y, high, low, words, left, right } = scene;
  const looks = ["score", "weight new"];
  const taken = [
    // the names of the corner, the slope and the flat part
    [x(ridge) - RIDGE, x(ridge) + RIDGE, ridgeName(numbers, scene).height],
    [left, left + NAME, aboveSlope(bandwidth, scene)],
    [right - PEAK, right, y(peak) - 8],
    ...[0, 1].map((i) => [x(intensity[i]) - 8, x(intensity[i]) + 8, y(rate[i]) + 4]),
  ];
  const highest = [0, 1].sort((a, b) => rate[b] - rate[a]); // its name comes first
  const [dx, dy] = [x(intensity[0]) - x(intensity[1]), y(rate[0]) - y(rate[1])];
  // Where two names have no room beneath their dots, the upper one stands over its own.
  const room = low - Math.max(...rate.map(y)) > 4 * ROW;
  const apart = room || Math.abs(dx) > NAME || Math.abs(dy) > ROW;
  const [over, beneath] = [
    [-14, -34, -54, -74],
    [24, 44, 64, 84, 104],
  ];
  return highest.map((i, place) => {
    const each = intensity[i];
    const [cx, cy] = [x(each), y(rate[i])];
    const [from, to] = [
      Math.min(cx + 12, right - NAME),
      Math.min(cx + 12 + NAME, right),
    ];
    const free = (at) =>
      at > high - 6 &&
      at < low - 4 &&
      !taken.some(([a, b, used]) => a < to && from < b && Math.abs(used - at) < ROW);
    const rows = apart || place ? [...beneath, ...over] : [...over, ...beneath];
    const height = rows.map((down) => cy + down).find(free) ?? cy + rows[0];
    taken.push([from, to, height]);
    return group(
      { q: i ? "o" : "s" },
      circle(cx, cy, 8, { key: `dot${i}`, class: looks[i] }),
      label(words.programs[i], from, height, { key: `name${i}`, class: "strong halo" }),
    );
  });
}

// ---- the words ---------------------------------------------------------------------

const short = (x) => num(x, x >= 99.95 ? 0 : x >= 9.995 ? 1 : 2).replace(/\.0+$/, "");

/** Whether the three steps wait for arithmetic and for bytes, one after the other. */
const inTurn = ({ intensity, rate, peak, bandwidth }) =>
  rate[0] < 0.999 * Math.min(peak, intensity[0] * bandwidth);

export function say({ gpu, format }, numbers, words) {
  const { intensity, rate, ridge, gain } = numbers;
  const values = {
    gpu,
    format,
    ridge: short(ridge),
    dense: short(intensity[0]),
    tiled: short(intensity[1]),
    low: short(rate[0] / TERA),
    high: short(rate[1] / TERA),
    times: num(gain < 1 ? 1 / gain : gain, 1),
  };
  const verdict =
    Math.abs(gain - 1) < 0.05
      ? words.sayLevel
      : gain < 1
        ? words.sayWorse
        : intensity[1] < ridge
          ? words.sayMemory
          : words.sayArithmetic;
  return sentences([words.say, inTurn(numbers) && words.sayInTurn, verdict], values);
}

export function table(state, numbers, words) {
  const { intensity, rate, ridge } = numbers;
  const limit = (each, i) => (i === 0 && inTurn(numbers) ? 2 : each < ridge ? 0 : 1);
  const rows = intensity.map((each, i) => [
    words.programs[i],
    short(each),
    short(rate[i] / TERA),
    words.limits[limit(each, i)],
  ]);
  return { caption: fill(words.tableCaption, state), head: words.tableHead, rows };
}
