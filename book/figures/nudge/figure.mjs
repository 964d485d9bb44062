// Nudge: a bar for each word, from the answer to the word's value, as thick as its weight.
// Its area is the slope: how far the answer moves if the word's score rises.

import { START, VALUES } from "livepage/constants";
import { handle, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num, percent } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores }) {
  const [start, here] = [averaged(START), averaged(scores)];
  const steps = scores.map((s, j) => s - (START[j] ?? s));
  const line = steps.reduce((at, step, j) => at + step * start.slopes[j], start.y);
  const furthest = Math.max(...steps.map(Math.abs));
  const moved = steps.findIndex((step) => furthest > 0 && Math.abs(step) === furthest);
  return { ...here, start: start.y, line, moved };
}

/** The weights of some scores, the average of the values, and its slopes. */
function averaged(scores) {
  const m = Math.max(...scores);
  const terms = scores.map((s) => Math.exp(s - m));
  const l = terms.reduce((sum, term) => sum + term, 0);
  const weights = terms.map((term) => term / l);
  const y = weights.reduce((sum, p, j) => sum + p * VALUES[j], 0);
  return { weights, y, slopes: weights.map((p, j) => p * (VALUES[j] - y)) };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  ...{ width: 720, height: 438, left: 0, right: 720, zero: 90, step: 54, wide: true },
  ...{ scores: { low: 136, high: 48 }, bars: 200, thick: 80, gap: 7, ground: 372 },
};
const NARROW = {
  ...{ width: 320, height: 438, left: 0, right: 320, zero: 28, step: 24, wide: false },
  ...{ scores: { low: 136, high: 48 }, bars: 200, thick: 80, gap: 7, ground: 372 },
};
const [LEAST, MOST] = [-2, 6];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const scene = {
    page,
    words: view.words,
    x: (value) => page.zero + value * page.step,
    pitch: (page.right - page.left) / state.scores.length,
  };
  return picture({ ...page, title: view.title }, [
    scores(state, numbers, scene),
    bars(numbers, scene),
    ruler(numbers, scene),
  ]);
}

/** A handle for each score, over a line at 0; where the score began, a mark. */
function scores({ scores }, { moved }, { page, words, pitch }) {
  const { low, high } = page.scores;
  const y = scale(LEAST, MOST, low, high);
  const column = (s, j) => {
    const x = page.left + (j + 0.5) * pitch;
    const box = { x: x - 9, width: 18, y: Math.min(y(s), y(0)) };
    return [
      rect({ class: "score", ...box, height: Math.max(1, Math.abs(y(s) - y(0))) }),
      level(y(START[j]), x - 13, x + 13, "max was"),
      label(num(s, 1), x, Math.min(y(s), y(0)) - 15, "small middle"),
      label(words.sentence[j], x, low + 20, {
        class: j === moved ? "middle strong" : "small middle",
      }),
      handle({ control: "scores", item: j, axis: "y", x, y: y(s), low, high }),
    ].join("");
  };
  return [
    label(words.scores, page.left, 14, "caption"),
    group(
      { q: "s" },
      level(y(0), page.left, page.right, "axis"),
      ...scores.map(column),
    ),
  ];
}

/** From the answer to each value, as thick as the weight; all bars together are as thick
 *  whatever the scores. */
function bars({ weights, y }, { page, words, x }) {
  let top = page.bars;
  const order = VALUES.map((_, j) => j).sort((a, b) => VALUES[b] - VALUES[a]);
  const bar = (j) => {
    const [height, right] = [page.thick * weights[j], VALUES[j] > y];
    const [from, to] = [Math.min(y, VALUES[j]), Math.max(y, VALUES[j])];
    const middle = top + height / 2 + 4;
    top += Math.max(height + page.gap, 15);
    return [
      rect({
        ...{ key: `b${j}`, class: `weight ${right ? "new" : "old"}`, rx: 0 },
        ...{ x: x(from), width: Math.max(0.5, x(to) - x(from)) },
        ...{ y: middle - 4 - height / 2, height: Math.max(0.75, height) },
      }),
      right
        ? label(words.sentence[j], x(to) + 5, middle, "small")
        : label(words.sentence[j], x(from) - 5, middle, "small end"),
    ].join("");
  };
  return [
    label(words.bars, page.left, page.bars - 14, { class: "caption", q: "p" }),
    group({ q: "p" }, ...order.map(bar)),
  ];
}

/** The ruler from money to water, the answer on it, and where the slopes would have it. */
function ruler({ y, line, moved, start }, { page, words, x }) {
  const ground = page.ground;
  const tick = (value) => [
    upright(x(value), ground, ground + 6, "axis"),
    value % 5 ? "" : label(`${value}`, x(value), ground + 20, "small middle"),
  ];
  const edge = (at) => Math.min(page.width - 4, Math.max(4, x(at)));
  const said = `${words.answer} ${num(y, 2)}`;
  const straight = fill(words.straight, { line: num(line, 2) });
  return [
    level(ground, x(-0.5), x(10.5), "axis"),
    Array.from({ length: 11 }, (_, value) => tick(value)),
    page.wide ? label(words.money, x(0) - 16, ground + 20, "small end") : "",
    page.wide ? label(words.water, x(10) + 18, ground + 20, "small") : "",
    upright(x(y), page.bars - 6, ground, { key: "y", class: "max", q: "o" }),
    tag("path", {
      ...{ key: "point", style: "fill:var(--ink)", d: `M${x(y)} ${ground}l-8 12h16z` },
    }),
    label(said, within(x(y), said, page), ground + 40, {
      key: "said",
      class: "middle strong",
    }),
    moved < 0
      ? ""
      : group(
          { key: "line" },
          upright(edge(line), ground - 16, ground + 6, "truth"),
          label(
            straight,
            within(edge(line), straight, page),
            ground + 60,
            "truth middle",
          ),
        ),
    moved < 0 ? "" : upright(x(start), ground - 8, ground + 6, "max was"),
  ];
}

/** Where a text is centred so that all of it stays in the picture. */
const within = (at, text, { width }) =>
  Math.min(width - 4.8 * text.length, Math.max(4.8 * text.length, at));

// ---- the words ---------------------------------------------------------------------

export function say({ scores }, { weights, y, slopes, line, moved, start }, words) {
  const steepest = slopes.findIndex(
    (slope) => Math.abs(slope) === Math.max(...slopes.map(Math.abs)),
  );
  const j = moved < 0 ? steepest : moved;
  const values = {
    word: words.sentence[j],
    share: percent(weights[j]),
    away: num(VALUES[j] - y, 1),
    slope: num(slopes[j], 2),
    y: num(y, 2),
    start: num(start, 2),
    line: num(line, 2),
    s: num(scores[j], 1),
  };
  return fill(moved < 0 ? words.sayStart : words.sayMoved, values);
}

export function table({ scores }, { weights, y, slopes }, words) {
  const rows = scores.map((s, j) => [
    words.sentence[j],
    num(s, 1),
    num(weights[j]),
    num(VALUES[j], 0),
    num(VALUES[j] - y, 2),
    num(slopes[j], 2),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
