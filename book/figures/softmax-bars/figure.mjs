// Softmax bars: scores to pull on, and the shares of one whole they turn into.

import { HIGHEST, LOWEST } from "livepage/constants";
import { generator, handle, picture } from "livepage/picture.mjs";
import { group, label, level, rect, tag } from "livepage/shapes.mjs";
import { num, percent, sentences, tidy } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, shift, temperature }) {
  const shown = scores.map((s) => s + shift);
  const m = Math.max(...shown);
  const terms = shown.map((s) => Math.exp((s - m) / temperature));
  const l = terms.reduce((sum, term) => sum + term, 0);
  return { shown, weights: terms.map((term) => term / l) };
}

/** A new sample: eight scores drawn around 2, the same for the same count. */
export function again(count) {
  const random = generator(count);
  const score = () => 2 + 2.4 * (random() + random() + random() + random() - 2);
  const scores = Array.from({ length: 8 }, () => Math.round(10 * score()) / 10);
  return { scores: scores.map((s) => Math.min(HIGHEST, Math.max(LOWEST, s))) };
}

// ---- the picture -------------------------------------------------------------------

const ROWS = {
  height: 424,
  scores: { low: 180, high: 60 },
  weights: { low: 362, high: 252 },
  whole: 394,
};
const WIDE = { ...ROWS, width: 720, apart: 150, thick: 84 };
const NARROW = { ...ROWS, width: 320, apart: 90, thick: 52 };

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const { low, high } = page.scores;
  const n = state.scores.length;
  const pitch = Math.min(page.apart, page.width / n);
  const thick = Math.min(page.thick, pitch - 7);
  const middle = (i) => (page.width - n * pitch) / 2 + (i + 0.5) * pitch;
  const scene = {
    page,
    words: view.words,
    thick,
    middle,
    left: (i) => middle(i) - thick / 2,
    // What is in sight moves along with the shift.
    y: (s) => low - ((s - state.shift - LOWEST) / (HIGHEST - LOWEST)) * (low - high),
  };
  return picture({ ...page, title: view.title, glide: 600 }, [
    captions(scene),
    scores(state, numbers, scene),
    weights(numbers, scene),
    whole(numbers, scene),
  ]);
}

function captions({ page, words }) {
  const caption = (text, q, y) => label(text, 0, y, { class: "caption", q });
  return [
    caption(words.scores, "s", page.scores.high - 50),
    caption(words.weights, "p", page.weights.high - 34),
    caption(words.whole, "p", page.whole - 8),
  ];
}

/** Bars that stand on zero; where zero is out of sight, on the torn edge of the picture. */
function scores(state, { shown }, scene) {
  const { page, y, left, thick, middle } = scene;
  const edges = [page.scores.high - 34, page.scores.low + 12];
  const foot = Math.min(edges[1], Math.max(edges[0], y(0)));
  const bar = (s, i) =>
    rect({
      key: `s${i}`,
      class: "score",
      x: left(i),
      width: thick,
      y: Math.min(y(s), foot),
      height: Math.max(1, Math.abs(y(s) - foot)),
    });
  const pull = (s, i) => [
    label(tidy(s), middle(i), y(s) + (foot < y(s) ? 27 : -19), {
      key: `st${i}`,
      class: thick < 48 ? "small middle" : "middle",
    }),
    handle({
      control: "scores",
      item: i,
      axis: "y",
      x: middle(i),
      y: y(s),
      low: page.scores.low,
      high: page.scores.high,
    }),
  ];
  return [
    group(
      { key: "scores", q: "s" },
      ...shown.map(bar),
      foot === y(0)
        ? level(foot, 0, page.width, "axis")
        : tear(foot + (foot < y(0) ? -7 : 7), page.width),
    ),
    ...shown.flatMap(pull),
  ];
}

/** Score bars continue beyond the picture: a torn edge across them. */
function tear(y, width) {
  const teeth = Array.from(
    { length: width / 8 },
    (_, i) => `l8 ${i % 2 ? 5 : -5}`,
  ).join("");
  return tag("path", { class: "tear", d: `M0 ${y}${teeth}` });
}

function weights({ weights }, { page, words, left, middle, thick }) {
  const { low, high } = page.weights;
  const tall = (p) => p * (low - high);
  const even = low - tall(1 / weights.length);
  const bar = (p, i) => [
    rect({
      key: `p${i}`,
      class: "weight new",
      x: left(i),
      width: thick,
      y: low - tall(p),
      height: Math.max(0.5, tall(p)),
    }),
    label(num(p, thick < 48 ? 2 : 3), middle(i), low - tall(p) - 8, {
      key: `pt${i}`,
      class: "strong middle halo",
    }),
  ];
  return group(
    { key: "weights", q: "p" },
    level(even, 0, page.width, { key: "even", class: "even" }),
    ...weights.flatMap(bar),
    level(low, 0, page.width, "axis"),
  );
}

/** The same weights laid end to end: one whole, shared out. */
function whole({ weights }, { page }) {
  let from = 0;
  const share = (p, i) => {
    const [x, width] = [from * page.width, p * page.width];
    from += p;
    const part = {
      key: `share${i}`,
      class: "weight new",
      x,
      y: page.whole,
      height: 22,
      width: Math.max(0, width - 4),
    };
    const text = { key: `percent${i}`, class: "small middle share" };
    const inside = width < 44 ? "" : percent(p);
    return rect(part) + label(inside, x + width / 2 - 2, page.whole + 16, text);
  };
  return group({ key: "whole", q: "p" }, ...weights.map(share));
}

// ---- the words ---------------------------------------------------------------------

export function say({ scores, shift, temperature }, { shown, weights }, words) {
  const list = (numbers) => numbers.join(", ");
  const top = shown.indexOf(Math.max(...shown));
  const first = shown.filter((s) => s === shown[top]).length;
  const values = {
    n: scores.length,
    k: first,
    c: num(shift, 0),
    t: num(temperature, Number.isInteger(temperature) ? 0 : 2),
    scores: list(shown.map((s) => tidy(s))),
    weights: list(weights.map((p) => num(p))),
    s: tidy(shown[top]),
    p: num(weights[top]),
    even: num(1 / scores.length),
  };
  return sentences(
    [
      scores.length > 4
        ? first > 1
          ? words.sayTied
          : words.sayMany
        : scores.length > 1
          ? words.sayFew
          : words.sayOne,
      temperature === 1 ? "" : words.sayTemperature,
      shift === 0 ? "" : words.sayShift,
    ],
    values,
  );
}

export function table(_, { shown, weights }, words) {
  const rows = weights.map((p, i) => [i + 1, tidy(shown[i]), num(p, 4)]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
