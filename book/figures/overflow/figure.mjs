// A map of softmax in four formats: a common score across, how many scores upwards. The
// walls are where it fails, in one of four ways.

import { FARTHEST, FORMATS, MOST_POWER } from "livepage/constants";
import { handle, picture } from "livepage/picture.mjs";
import { circle, group, label, level, rect, upright } from "livepage/shapes.mjs";
import { grouped, num, sentences, show, tidy } from "livepage/text.mjs";

import { adder, rounder } from "../rounding.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ logit, power, format, subtract }) {
  const score = subtract ? 0 : logit;
  return {
    score,
    count: 2 ** power,
    walls: walls(format),
    ...softmax(score, power, format),
  };
}

/** What naive softmax makes of 2^power equal scores, every step rounded to the format. */
function softmax(score, power, format) {
  const round = rounder(FORMATS[format]);
  const term = round(Math.exp(score));
  const total = adder(FORMATS[format])(term, 2 ** power);
  const failure =
    term === Infinity
      ? 1
      : term === 0
        ? 2
        : total === Infinity
          ? 3
          : power > FORMATS[format].bits
            ? 4
            : 0;
  return { term, total, weight: round(term / total), failure };
}

/** Where exp vanishes and overflows, and where the sum of 2^k terms overflows. */
function walls(format) {
  const { bits, low, largest } = FORMATS[format];
  const zero = (low - bits) * Math.LN2;
  const overflow = Math.log(largest);
  return {
    zero,
    overflow,
    bits,
    sum: (k) => overflow - Math.min(k, bits + 1) * Math.LN2,
  };
}

// ---- the picture -------------------------------------------------------------------

const BEND = 4; // the axis is nearly even up to here, and ever more crowded beyond
const bent = (x) => Math.asinh(x / BEND);

const WIDE = {
  width: 720,
  height: 428,
  left: 64,
  right: 714,
  high: 46,
  low: 316,
  legend: 384,
  columns: 2,
};
const NARROW = {
  width: 320,
  height: 462,
  left: 44,
  right: 316,
  high: 46,
  low: 286,
  legend: 354,
  columns: 1,
};

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const { left, right, high, low } = page;
  const row = (low - high) / (MOST_POWER + 1);
  const middle = (left + right) / 2;
  const scene = {
    page,
    words: view.words,
    row,
    x: (s) =>
      middle +
      ((bent(Math.min(FARTHEST, Math.max(-FARTHEST, s))) / bent(FARTHEST)) *
        (right - left)) /
        2,
    y: (k) => low - (k + 0.5) * row,
  };
  return picture({ ...page, title: view.title, glide: 500 }, [
    map(numbers, scene),
    axes(scene),
    lines(state, scene),
    badges(numbers, scene),
    position(state, numbers, scene),
    legend(numbers, scene),
  ]);
}

/** Safe ground, and around it the four ways to fail. */
function map({ walls: { zero, overflow, bits, sum } }, { page, x, y, row }) {
  const { left, right, high, low } = page;
  const area = (key, look, from, to, top, bottom) =>
    rect({
      key,
      class: look,
      rx: 0,
      x: from,
      width: Math.max(0, to - from),
      y: top,
      height: Math.max(0, bottom - top),
    });
  const rows = Array.from({ length: MOST_POWER + 1 }, (_, k) =>
    area(`sum${k}`, "silent", x(sum(k)), x(overflow), y(k) - row / 2, y(k) + row / 2),
  );
  return group(
    { key: "map" },
    area("safe", "safe", left, right, high, low),
    area("zero", "loud", left, x(zero), high, low),
    area(
      "stall",
      "silent",
      x(zero),
      x(sum(MOST_POWER)),
      high,
      Math.max(high, y(bits) - row / 2),
    ),
    ...rows,
    area("overflow", "loud", x(overflow), right, high, low),
  );
}

function axes({ page, words, x, y }) {
  const { left, right, high, low } = page;
  const ticks =
    page.columns === 2
      ? [-100, -30, -10, -3, 0, 3, 10, 30, 100]
      : [-100, -20, -5, 0, 5, 20, 100];
  return [
    label(words.count, 0, high - 16, "caption"),
    label(words.score, right, low + 40, { class: "caption end", q: "s" }),
    ...[0, 10, 20].map((k) =>
      label(k ? `2^{${k}}` : "1", left - 15, y(k) + 4, "small end"),
    ),
    ...ticks.map((s) => label(num(s, 0), x(s), low + 20, "small middle")),
    ...ticks.map((s) => upright(x(s), low, low + 5, "axis")),
    level(low, left, right, "axis"),
    upright(left, high, low, "axis"),
  ];
}

const between = (a, b) => (a + b) / 2;

/** Where the safe ground is named, and each area numbered for the legend: [text, x, y].
 *  A strip that is too thin has no number. */
function places({ walls: { zero, overflow, bits, sum } }, { page, words, x, y }) {
  const { left, right, high, low } = page;
  const foot = low - 16;
  const room = ([k, cx]) =>
    k === 4 ? bits < MOST_POWER : cx > left + 3 && cx < right - 3;
  const numbered = [
    [1, between(x(overflow), right), foot],
    [2, between(left, x(zero)), foot],
    [3, between(x(sum(bits)), x(overflow)), y(bits - 3)],
    [4, between(x(zero), x(sum(MOST_POWER))), high + 14],
  ];
  return [[words.safe, between(x(zero), x(0)), foot], ...numbered.filter(room)];
}

function badges(numbers, scene) {
  const [[safe, cx, cy], ...numbered] = places(numbers, scene);
  return [
    label(safe, cx, cy + 4, { key: "ground", class: "truth middle halo" }),
    ...numbered.map((place) => badge(...place)),
  ];
}

const badge = (k, cx, cy) =>
  group(
    { key: `badge${k}`, q: k > 2 ? "l" : "p" },
    circle(cx, cy, 9, { key: `ring${k}`, class: "badge" }),
    label(k, cx, cy + 4.5, { key: `mark${k}`, class: "small middle" }),
  );

/** Where a state stands: its score, the score after a subtraction, its count. */
const spot = ({ logit, power, subtract }, { x, y }) => [
  x(logit),
  x(subtract ? 0 : logit),
  y(power),
];

/** From the reader's position to both axes, and to where the subtraction moves it. */
function lines(state, scene) {
  const [from, at, up] = spot(state, scene);
  const { left, low } = scene.page;
  return [
    level(up, left, at, { key: "across", class: "even" }),
    upright(from, up, low, { key: "down", class: "even", q: "s" }),
    isMoved(state, scene) &&
      level(up, from, at, { key: "moved", class: "max was", q: "m" }),
  ];
}

function isMoved(state, scene) {
  const [from, at] = spot(state, scene);
  return Math.abs(from - at) > 12;
}

/** What moves the position, written where no other name stands. */
function away([from, at, up], numbers, scene) {
  const { page, words } = scene;
  const half = 4.4 * words.subtracted.length;
  const middle = Math.min(
    page.right - half,
    Math.max(page.left + half, (from + at) / 2),
  );
  const free = (y) =>
    y > page.high &&
    y < page.low &&
    places(numbers, scene).every(
      ([text, cx, cy]) =>
        Math.abs(cy + 4 - y) > 18 ||
        Math.abs(cx - middle) > half + 8 + 4 * String(text).length,
    );
  const height = [-14, 24, 44, -34, -54].map((down) => up + down).find(free) ?? up - 14;
  return group(
    { key: "away", q: "m" },
    circle(from, up, 5, "left-behind"),
    label(words.subtracted, middle, height, "max middle halo"),
  );
}

/** The reader's position on the map; the subtraction moves it to a common score of 0. */
function position(state, numbers, scene) {
  const { page, y } = scene;
  const { failure } = numbers;
  const [from, at, up] = spot(state, scene);
  return [
    isMoved(state, scene) ? away([from, at, up], numbers, scene) : "",
    circle(at, up, 7, { key: "here", class: failure ? "here wrong" : "here" }),
    handle({
      control: "power",
      axis: "y",
      x: page.left,
      y: up,
      low: y(0),
      high: y(MOST_POWER),
    }),
    handle({
      control: "logit",
      axis: "x",
      x: from,
      y: page.low,
      low: page.left,
      high: page.right,
      bend: BEND,
    }),
  ];
}

function legend({ failure }, { page, words }) {
  const entry = (text, i) => {
    const [column, row] = [i % page.columns, Math.floor(i / page.columns)];
    const [x, y] = [4 + column * (page.width / page.columns), page.legend + row * 26];
    const on = failure === i + 1;
    return [
      circle(x + 8, y, 9, on ? "badge on" : "badge"),
      label(i + 1, x + 8, y + 4.5, "small middle"),
      label(text, x + 26, y + 4.5, {
        class: on ? "fails" : "small",
        q: i < 2 ? "p" : "l",
      }),
    ];
  };
  return words.failures.flatMap(entry);
}

// ---- the words ---------------------------------------------------------------------

/** Four digits, or all before the point, and a power of ten where that is shorter. */
function short(x) {
  if (x === 0 || !Number.isFinite(x)) return num(x, 0);
  if (x < 1e-3 || x >= 1e6) {
    const power = exponentOfTen(x);
    return `${num(x / 10 ** power, 2)} × 10^{${num(power, 0)}}`;
  }
  return grouped(show(x, 4));
}

const exponentOfTen = (x) => Number(x.toExponential(2).split("e")[1]);

export function say({ format, subtract }, numbers, words) {
  const { score, count, term, total, weight, failure } = numbers;
  const values = {
    format,
    s: tidy(score),
    n: grouped(count),
    term: short(term),
    l: short(total),
    p: short(weight),
    even: short(1 / count),
    times: short(weight * count),
  };
  const verdict =
    count === 1 && !failure
      ? words.sayOne
      : failure === 4 && weight * count < 1.01
        ? words.sayHardly
        : words.say[failure];
  return sentences([subtract ? words.saySubtracted : "", verdict], values);
}

/** The lines of softmax, with their present values. */
export function code({ logit, subtract }, { score, term, total, weight, failure }) {
  const row = (q, text, value, fault) => ({ q, text, value, fault });
  return [
    subtract &&
      row(
        "m",
        "[s: s] = [s: s] - [m: max(s)]",
        `[s: ${tidy(logit)}] − [m: ${tidy(logit)}] = [s: ${tidy(score)}]`,
      ),
    row(
      "p",
      "term = exp([s: s])",
      `e^{${tidy(score)}} = ${short(term)}`,
      failure === 1 || failure === 2,
    ),
    row("l", "[l: total] = sum(terms)", `[l: ${short(total)}]`, failure >= 3),
    row(
      "p",
      "[p: weight] = term / [l: total]",
      `${short(term)} / [l: ${short(total)}] = [p: ${short(weight)}]`,
    ),
  ].filter(Boolean);
}

export function table({ power, subtract, logit }, _, words) {
  const rows = Object.keys(FORMATS).map((format) => {
    const { term, total, weight, failure } = softmax(
      subtract ? 0 : logit,
      power,
      format,
    );
    const cells = [term, total, weight].map((x) => flat(short(x)));
    return [format, ...cells, failure ? words.failures[failure - 1] : words.safe];
  });
  return { caption: words.tableCaption, head: words.tableHead, rows };
}

/** A text for the table, which knows no markup: its powers as raised digits. */
const flat = (text) =>
  text.replace(/\^\{(.*?)\}/, (_, power) =>
    [...power].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] ?? "⁻").join(""),
  );
