// Two chunks: a sum measured from one maximum meets a chunk that brings a larger one.

import { HIGHEST, LOWEST } from "livepage/constants";
import { fading, handle, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag } from "livepage/shapes.mjs";
import { fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ first, offsets, top, step, forget }) {
  const old = Math.max(...first);
  const second = offsets.map((offset) => top + offset);
  const m = Math.max(old, ...second);
  const [terms, fresh] = [measured(first, old), measured(second, m)];
  const alpha = Math.exp(old - m);
  const [l_old, added] = [sum(terms), sum(fresh)];
  const kept = forget ? l_old : l_old * alpha;
  const l = kept + added;
  return {
    steps: 2,
    old: { m: old, l: l_old },
    second,
    terms,
    fresh,
    m,
    alpha,
    kept,
    added,
    l,
    truth: sum(measured([...first, ...second], m)),
    shown: [l_old, kept, l][Math.min(step, 2)],
  };
}

const measured = (scores, m) => scores.map((s) => Math.exp(s - m));
const sum = (weights) => weights.reduce((total, w) => total + w, 0);

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 340,
  left: 0,
  right: 340,
  low: 304,
  high: 40,
  before: 430,
  after: 556,
  across: 58,
  notes: true,
};
const NARROW = {
  width: 320,
  height: 340,
  left: 0,
  right: 116,
  low: 304,
  high: 40,
  before: 134,
  after: 224,
  across: 34,
  notes: false,
};

// The parts of the transition: the maximum rises, the old weights shrink, the new ones
// are added.
const [RISE, SHRINK, ADD] = [
  [0, 0.25],
  [0.2, 0.55],
  [0.6, 1],
];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const room = page.low - page.high;
  const scene = {
    page,
    words: view.words,
    forward: view.was && view.was.step < state.step,
    y: height(state, page),
    tall: (l) => (l / (numbers.old.l + state.offsets.length)) * room,
  };
  return picture({ ...page, title: view.title, glide: scene.forward ? 1200 : 400 }, [
    chunks(state, numbers, scene),
    maxima(state, numbers, scene),
    before(numbers, scene),
    after(state, numbers, scene),
    handle({
      control: "top",
      axis: "y",
      low: scene.y(LOWEST),
      high: scene.y(HIGHEST),
      x: slot(0, state, scene).middle,
      y: scene.y(state.top),
    }),
  ]);
}

/** From a score to its height: wherever `top` stands, no score leaves the panel. */
function height({ first, offsets }, { low, high }) {
  const least = Math.min(0, LOWEST + Math.min(...offsets), ...first);
  const most = Math.max(0, HIGHEST + Math.max(...offsets), ...first);
  return scale(least, most, low, high);
}

/** Where score `i` of the second chunk stands; the first chunk's have negative `i`. */
function slot(i, { first, offsets }, { page }) {
  const pitch = (page.right - page.left - 14) / (first.length + offsets.length);
  const x = page.left + (first.length + i) * pitch + (i < 0 ? 0 : 14);
  return { x: x + 3, width: pitch - 6, middle: x + pitch / 2 };
}

/** The old scores, pale because they are gone; the new ones, dashed until they count. */
function chunks(state, { second }, scene) {
  const { page, words, y } = scene;
  const band = (from, to, lit) =>
    rect({
      class: `band${lit}`,
      rx: 5,
      x: from.x - 3,
      width: to.x + to.width + 3 - from.x + 3,
      y: page.high - 14,
      height: page.low - page.high + 14,
    });
  const at = (i) => slot(i, state, scene);
  const [start, end, edge] = [at(-state.first.length), at(-1), at(second.length - 1)];
  const bar = (s, i, look) =>
    rect({
      key: `s${i}`,
      class: `score ${look}`,
      x: at(i).x,
      width: at(i).width,
      y: Math.min(y(s), y(0)),
      height: Math.max(1, Math.abs(y(s) - y(0))),
    });
  const name = (text, from, to) =>
    label(text, (from.x + to.x + to.width) / 2, page.low + 22, "small middle");
  return [
    band(start, end, ""),
    band(at(0), edge, " lit"),
    label(words.scores, page.left + 2, page.high - 24, { class: "caption", q: "s" }),
    group(
      { q: "s" },
      ...state.first.map((s, i) => bar(s, i - state.first.length, "gone")),
      ...second.map((s, i) => bar(s, i, state.step === 2 ? "" : "unseen")),
      level(y(0), page.left, page.right, "axis"),
    ),
    name(words.gone, start, end),
    name(words.arriving, at(0), edge),
  ];
}

/** The largest so far, and, once the chunk counts, the new one. */
function maxima({ step }, { old, m }, { page, words, y }) {
  const now = step ? m : old.m;
  const { left, right } = page;
  const risen = step && m > old.m;
  return group(
    { key: "max", q: "m" },
    risen ? level(y(old.m), left, right, "max was") : "",
    level(y(now), left, right, { key: "m", class: "max", at: RISE }),
    label(
      fill(words.max, { m: num(now, 1) }),
      page.notes ? page.right + 8 : page.left + 4,
      y(now) + (page.notes ? 5 : -7),
      { key: "mt", class: "max", at: RISE },
    ),
  );
}

/** The pocket before the chunk: a column with a part for each old score. */
function before({ old, terms }, scene) {
  const { page, words, tall } = scene;
  const x = page.before;
  return group(
    { q: "l" },
    label(words.pocket, x, page.high - 24, "caption"),
    ...stacked(terms, 0).map((part) => term(part, x, scene, { class: "weight old" })),
    ...foot(x, words.before, scene),
    label(num(old.l), x + page.across / 2, page.low - tall(old.l) - 9, "strong middle"),
  );
}

/** The pocket after it: the old terms, all × α at once, and the new ones on top. */
function after({ forget, step }, numbers, scene) {
  const { page, words } = scene;
  const x = page.after;
  const wrong = step > 0 && forget && numbers.alpha < 1 ? " wrong" : "";
  return group(
    { q: "l" },
    ...foot(x, words.after, scene),
    step === 0
      ? label("?", x + page.across / 2, page.low - 14, "strong middle")
      : column(forget ? 1 : numbers.alpha, wrong, step, numbers, scene),
    step ? times(numbers, wrong, scene) : "",
    step === 2 ? verdict(numbers, scene) : "",
  );
}

function column(shrink, wrong, step, { terms, fresh, shown, old }, scene) {
  const { page, tall, forward } = scene;
  const at = (part, look) => term(part, page.after, scene, look);
  const whole = stacked(terms, 0);
  const grown = whole.map(({ from, l }) => ({
    y: page.low - tall(from + l),
    height: tall(l) - 1,
  }));
  const base = old.l * shrink;
  const top = page.low - tall(base);
  return [
    ...(shrink < 1 ? whole.map((part) => at(part, { class: "ghost" })) : []),
    ...stacked(
      terms.map((w) => w * shrink),
      0,
    ).map((part, i) =>
      at(part, {
        key: `old${i}`,
        class: `weight old${wrong}`,
        at: SHRINK,
        from: forward && grown[i],
      }),
    ),
    ...(step === 2 ? stacked(fresh, base) : []).map((part, i) =>
      at(part, {
        key: `new${i}`,
        class: "weight new",
        at: ADD,
        from: forward && { y: top, height: 0 },
      }),
    ),
    label(
      page.notes ? `ℓ = ${num(shown)}` : num(shown),
      page.after + page.across + 12,
      page.low - tall(shown) + 1,
      {
        key: `l${step}`,
        class: "strong",
        ...fading(step === 2 ? ADD : SHRINK, forward),
      },
    ),
  ].join("");
}

/** Weights one on the other: where each begins and how much it is. */
function stacked(weights, base) {
  let from = base;
  return weights.map((l) => ({ from: (from += l) - l, l }));
}

function term({ from, l }, x, { page, tall }, look) {
  return rect({
    x,
    width: page.across,
    y: page.low - tall(from + l),
    height: Math.max(0.5, tall(l) - 1),
    rx: 1.5,
    ...look,
  });
}

function foot(x, text, { page }) {
  const { low, across } = page;
  return [
    level(low, x - 8, x + across + 8, "axis"),
    label(text, x + across / 2, low + 22, "small middle"),
  ];
}

/** Between the columns: an arrow, and the factor of everything old. */
function times({ alpha, old }, wrong, { page, words, tall, forward }) {
  const [from, to] = [page.before + page.across + 8, page.after - 8];
  const y = page.low - tall(old.l) / 2;
  const tone = wrong || (alpha < 1 ? " on" : "");
  const factor = alpha === 1 ? "1" : num(alpha, page.notes ? 3 : 2);
  const text = wrong ? words.forgotten : `× ${factor}`;
  return group(
    {
      key: "times",
      class: `tag${tone}`,
      q: "alpha",
      ...fading(RISE, forward),
    },
    tag("path", { d: `M${from} ${y}H${to}m-6 -5l6 5l-6 5` }),
    label(text, (from + to) / 2, y - 10, "middle"),
  );
}

/** A line at the sum of all scores taken at once. */
function verdict({ shown, truth }, { page, words, tall, forward }) {
  const [x, y] = [page.after, page.low - tall(truth)];
  const right = Math.abs(shown - truth) < 1e-9;
  const clear = right || Math.abs(tall(shown) - tall(truth)) > 18;
  return group(
    { key: "truth", ...fading([0.9, 1], forward) },
    level(y, x - 8, x + page.across + 8, "truth"),
    page.notes && clear
      ? label(words.truth, x + page.across + 12, y + (right ? 17 : 5), "truth")
      : "",
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ step, top, forget }, numbers, words) {
  const { old, second, m, alpha, kept, added, l, truth } = numbers;
  const values = {
    old: num(old.l),
    oldMax: num(old.m, 1),
    chunk: second.map((s) => num(s, 1)).join(", "),
    m: num(m, 1),
    alpha: num(alpha),
    kept: num(kept),
    added: num(added),
    l: num(l),
    truth: num(truth),
    factor: num(l / truth, 2),
  };
  const due =
    alpha === 1 ? words.saySame : forget ? words.sayForgotten : words.sayRescaled;
  const end = Math.abs(l - truth) > 1e-9 ? words.sayWrong : words.sayRight;
  const templates = [[words.sayBefore], [due], [due, words.sayAdded, end]][step];
  return sentences(templates, values);
}

/** The lines of the update, with their present values. */
export function code({ step, forget }, { old, second, m, alpha, kept, added, l }) {
  const [was, now, by] = [num(old.m, 1), num(m, 1), num(alpha)];
  const scaled = forget ? "[l: l]" : "[l: l] * [alpha: alpha]";
  const times = forget ? num(old.l) : `${num(old.l)} × [alpha: ${by}] = ${num(kept)}`;
  const row = (q, text, value, from, rest = {}) => ({
    q,
    text,
    value: step >= from ? value : "",
    ...rest,
  });
  return [
    row(
      "m",
      "m_new = max([m: m], max([s: s]))",
      `max([m: ${was}], [s: ${num(Math.max(...second), 1)}]) = [m: ${now}]`,
      1,
    ),
    row(
      "alpha",
      "alpha = exp([m: m] - [m: m_new])",
      `exp([m: ${was}] − [m: ${now}]) = [alpha: ${by}]`,
      1,
    ),
    row("l", `l = ${scaled}`, times, 1, { fault: forget && alpha < 1 && step > 0 }),
    row(
      "l",
      "l = [l: l] + sum([p: exp(s - m_new)])",
      `${num(kept)} + ${num(added)} = [l: ${num(l)}]`,
      2,
    ),
    row("m", "m = [m: m_new]", now, 2),
  ];
}

export function table(_, { old, m, alpha, kept, added, l, truth }, words) {
  const values = [
    num(old.m, 1),
    num(old.l),
    num(m, 1),
    num(alpha, 4),
    num(kept, 4),
    num(added, 4),
    num(l, 4),
    num(truth, 4),
  ];
  const rows = values.map((value, i) => [words.tableRows[i], value]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
