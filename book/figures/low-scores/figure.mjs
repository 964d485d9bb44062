// A row of scores that is moved downwards: what a program of the museum makes of it, and
// what it measures the scores from.

import { LANES, SCORES, VALUES } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { circle, group, label, level, rect, upright } from "livepage/shapes.mjs";
import { num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const FLT_MIN = 1.17549435e-38;
const sum = (numbers) => numbers.reduce((total, x) => total + x, 0);

export function compute(state) {
  const scores = SCORES.map((s) => s + state.level);
  const top = Math.max(...scores);
  const terms = scores.map((s) => Math.exp(s - top));
  const truth = terms.map((term) => term / sum(terms));
  const right = [0, 1].map((c) => sum(truth.map((p, j) => p * VALUES[j][c])));
  const { m, l, shares, output } = inLanes(scores);
  const decades = l ? Math.log10(l) : null;
  const wrong = written(output) !== written(right);
  return { scores, top, truth, right, m, decades, shares, output, wrong };
}

/** A state for each lane, then a merge from FLT_MIN on. */
function inLanes(scores) {
  const lanes = Array.from({ length: LANES }, (_, lane) => {
    const keys = scores.map((_, j) => j).filter((j) => j % LANES === lane);
    const top = Math.max(...keys.map((j) => scores[j]));
    return { top, terms: keys.map((j) => [j, Math.exp(scores[j] - top)]) };
  });
  const m = Math.max(FLT_MIN, ...lanes.map(({ top }) => top));
  const merged = (value) =>
    sum(
      lanes.map(
        ({ top, terms }) =>
          Math.exp(top - m) * sum(terms.map(([j, t]) => t * value(j))),
      ),
    );
  const l = merged(() => 1);
  const average = (value) => (l ? merged(value) / l : 0);
  return {
    m,
    l,
    shares: scores.map((_, key) => average((j) => Number(j === key))),
    output: [0, 1].map((c) => average((j) => VALUES[j][c])),
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, bar: 48, every: 1, due: [0, 200], foot: 250 };
const NARROW = { width: 320, bar: 24, every: 2, due: [22, 0], foot: 272 };
const [BASE, FULL, ROOM] = [184, 420, 144]; // of the bars, of a weight of 1, of the inside
const [SMALLEST, NORMAL] = [Math.log10(5e-324), Math.log10(2.3e-308)];

export function draw({ inside }, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words };
  const height = page.foot + (inside ? ROOM : 0);
  return picture({ width: page.width, height, title, glide: 300 }, [
    label(words.weights, 0, 14, "caption"),
    bars(numbers, page),
    level(BASE, 0, page.width, "axis"),
    outputs(numbers, page),
    inside ? within(numbers, page) : "",
  ]);
}

function bars({ scores, shares, truth }, { width, bar, every }) {
  return scores.map((s, j) => {
    const x = ((j + 0.5) * width) / scores.length;
    const [tall, due] = [FULL * shares[j], BASE - FULL * truth[j]];
    const left = x - bar / 2;
    const box = { x: left, width: bar, y: BASE - tall, height: tall };
    return [
      rect({ key: `p${j}`, q: "p", class: "weight new", ...box }),
      level(due, left - 4, left + bar + 4, { key: `t${j}`, q: "p", class: "truth" }),
      (j + 1) % every
        ? ""
        : label(num(s, 1), x, BASE + 18, { q: "s", class: "small middle" }),
    ];
  });
}

function outputs({ output, right, wrong }, { words, due: [down, x] }) {
  const y = BASE + 50;
  return group(
    { q: "o" },
    label(`${words.output} ${written(output)}`, 0, y, wrong ? "vanishes" : "strong"),
    label(`${words.due} ${written(right)}`, x, y + down, "truth"),
  );
}

/** Where the sum lies, on an axis down to the smallest number. */
function within({ m, top, decades, wrong }, { width, foot, words }) {
  const along = scale(-340, 5, 0, width);
  const x = along(decades ?? -332);
  const y = foot + 34;
  const zone = (look, from, to) =>
    rect({
      class: look,
      x: along(from),
      width: along(to) - along(from),
      y: y - 9,
      height: 18,
    });
  const power = (k) =>
    label(k ? `10^{${num(k, 0)}}` : "1", along(k), y + 26, "small middle");
  const from = m > 1e-9 ? num(m, 1) : scientific(Math.log10(m));
  return group(
    { key: "within" },
    zone("no-numbers", -340, SMALLEST),
    zone("few-digits", SMALLEST, NORMAL),
    level(y, along(SMALLEST), width, "axis"),
    [-300, -200, -100, 0].map((k) => [upright(along(k), y, y + 8, "axis"), power(k)]),
    circle(x, y, 7, { key: "sum", q: "l", class: wrong ? "here wrong" : "here" }),
    label(`ℓ = ${scientific(decades)}`, Math.min(Math.max(x, 56), width - 50), y - 16, {
      key: "total",
      q: "l",
      class: "middle",
    }),
    label(words.zones, 0, y + 54, "small"),
    label(`${words.from} ${from}`, 0, y + 80, { q: "m", class: "max" }),
    label(`${words.top} ${num(top, 1)}`, 0, y + 102, { q: "s" }),
  );
}

// ---- the words ---------------------------------------------------------------------

const written = (row) => row.map((x) => num(x)).join(", ");

/** From a logarithm, because 10 ** −320 has few digits. */
function scientific(decades) {
  if (decades === null) return "0";
  if (decades > -3) return num(10 ** decades, 2);
  const power = Math.floor(decades);
  return `${num(10 ** (decades - power), 1)} × 10^{${num(power, 0)}}`;
}

export function say({ inside }, { output, right, wrong, m, top, decades }, words) {
  const none = output.every((x) => x === 0);
  const verdict = none ? words.sayNone : wrong ? words.sayOff : words.sayRight;
  const from = m > top ? words.sayFrom : words.sayTop;
  return sentences([verdict, inside ? from : ""], {
    o: written(output),
    right: written(right),
    l: scientific(decades),
  });
}

export function table(_, { scores, shares, truth }, words) {
  const rows = scores.map((s, j) => [num(s, 1), num(truth[j]), num(shares[j])]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
