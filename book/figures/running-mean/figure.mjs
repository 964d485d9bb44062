// One stream, two questions: the mean needs two numbers, softmax seems to need them all.

import { fading, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag } from "livepage/shapes.mjs";
import { fill, num, sentences, tidy } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, step }) {
  const [before, now] = [seen(scores, step - 1), seen(scores, step)];
  const changed = step > 1 && now.m > before.m ? before.count : 0;
  return { steps: scores.length, before, changed, ...now };
}

/** What can be said of the first `count` scores. */
function seen(scores, step) {
  const list = scores.slice(0, Math.max(0, step));
  const sum = list.reduce((total, s) => total + s, 0);
  const m = Math.max(...list);
  const terms = list.map((s) => Math.exp(s - m));
  const l = terms.reduce((total, term) => total + term, 0);
  return { count: list.length, sum, mean: sum / list.length, m, terms, l };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 424,
  left: 0,
  right: 560,
  note: 572,
  scores: { low: 132, high: 40 },
  terms: { low: 272, high: 188 },
  mean: { x: 0, y: 344 },
  softmax: { x: 270, y: 344 },
  box: { width: 50, wide: 72, height: 34 },
};
const NARROW = {
  width: 320,
  height: 500,
  left: 0,
  right: 244,
  note: 250,
  scores: { low: 132, high: 40 },
  terms: { low: 272, high: 188 },
  mean: { x: 0, y: 340 },
  softmax: { x: 0, y: 438 },
  box: { width: 35, wide: 78, height: 34 },
};

// The parts of the transition: the old terms shrink, then the new one is added.
const [SHRINK, ADD] = [
  [0, 0.5],
  [0.55, 1],
];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const pitch = (page.right - page.left) / state.scores.length;
  const scene = {
    page,
    words: view.words,
    pitch,
    x: (i) => page.left + i * pitch,
    gap: pitch / 7,
    forward: view.was && view.was.step === state.step - 1,
  };
  return picture({ ...page, title: view.title, glide: scene.forward ? 1100 : 400 }, [
    stream(state, numbers, scene),
    terms(numbers, scene),
    meanPocket(numbers, scene),
    softmaxPocket(state, numbers, scene),
  ]);
}

/** From a value to its height; zero is always in sight. */
function heights(values, { low, high }) {
  return scale(Math.min(0, ...values), Math.max(0, ...values), low, high);
}

function stream(
  { scores, step },
  { m, before, changed },
  { page, words, pitch, x, gap },
) {
  const y = heights(scores, page.scores);
  const bar = (s, i) =>
    rect({
      key: `s${i}`,
      class: i < step ? "score" : "score unseen",
      x: x(i) + gap,
      width: pitch - 2 * gap,
      y: Math.min(y(s), y(0)),
      height: Math.max(1, Math.abs(y(s) - y(0))),
    });
  const { left, right } = page;
  return [
    step
      ? rect({
          key: "lit",
          class: "band lit",
          rx: 5,
          x: x(step - 1) + 1,
          width: pitch - 2,
          y: page.scores.high - 12,
          height: page.terms.low - page.scores.high + 18,
        })
      : "",
    label(words.scores, page.left, page.scores.high - 24, { class: "caption", q: "s" }),
    group({ q: "s" }, ...scores.map(bar), level(y(0), left, right, "axis")),
    step
      ? group(
          { key: "max", q: "m" },
          changed ? level(y(before.m), left, right, "max was") : "",
          level(y(m), left, right, { key: "m", class: "max", at: [0, 0.3] }),
          label(fill(words.max, { m: tidy(m) }), page.note, y(m) + 5, {
            key: "mt",
            class: "max",
            at: [0, 0.3],
          }),
        )
      : "",
  ];
}

/** e^(s − m) of all seen; where the maximum has just risen, how large each was before. */
function terms({ terms, before, changed, l }, { page, words, pitch, x, gap, forward }) {
  const { low, high } = page.terms;
  const tall = (term) => term * (low - high);
  const extent = (i, term) => ({
    x: x(i) + gap,
    width: pitch - 2 * gap,
    y: low - tall(term),
    height: Math.max(0.5, tall(term)),
  });
  const bar = (term, i) => {
    const fresh = i === terms.length - 1;
    const [look, at] = fresh ? ["new", ADD] : ["old", SHRINK];
    return rect({
      key: `t${i}`,
      class: `weight ${look}`,
      at,
      from: forward && fresh && { y: low, height: 0 },
      ...extent(i, term),
    });
  };
  const ghost = (term, i) => rect({ class: "ghost", ...extent(i, term) });
  const ghosts = changed ? before.terms.map(ghost) : [];
  return [
    label(words.terms, page.left, high - 18, { class: "caption", q: "p" }),
    group(
      { key: "terms", q: "p" },
      ...ghosts,
      ...terms.map(bar),
      level(low, page.left, page.right, "axis"),
    ),
    changed ? alarm(changed, { page, words, x, forward }) : "",
    terms.length
      ? label(`ℓ = ${num(l, 2)}`, page.note, low - 4, {
          key: `l${terms.length}`,
          class: "strong",
          q: "l",
          ...fading(ADD, forward),
        })
      : "",
  ];
}

function alarm(changed, { page, words, x, forward }) {
  const [from, to, y] = [page.left + 2, x(changed) - 2, page.terms.low + 10];
  const said = [words.changedOne, words.changedTwo][changed - 1] ?? words.changed;
  const text = fill(said, { n: changed });
  return group(
    {
      key: `alarm${changed}`,
      class: "tag on",
      ...fading(SHRINK, forward),
    },
    tag("path", { d: `M${from} ${y - 5}v5H${to}v-5` }),
    label(text, Math.max((from + to) / 2, 4.4 * text.length), y + 18, "middle"),
  );
}

/** Two boxes, however long the stream. */
function meanPocket({ sum, count, mean }, { page, words }) {
  const { x, y } = page.mean;
  const { wide, height } = page.box;
  const held = [
    [words.sum, tidy(sum)],
    [words.count, count],
  ];
  return [
    label(words.meanPocket, x, y - 10, "caption"),
    ...held.map(([name, value], i) =>
      box(x + i * (wide + 6), y, wide, height, value, name),
    ),
    label(
      count ? `${words.tableHead[3]} ${num(mean, 2)}` : "",
      x + 2 * wide + 18,
      y + 22,
      "strong",
    ),
  ];
}

/** A box for every score so far. */
function softmaxPocket({ scores, step }, _, { page, words }) {
  const { x, y } = page.softmax;
  const { width, height } = page.box;
  const kept = scores.slice(0, step);
  const pitch = Math.min(width + 5, (page.width - x) / Math.max(1, scores.length));
  return [
    label(words.softmaxPocket, x, y - 10, "caption"),
    ...(step
      ? kept.map((s, i) => box(x + i * pitch, y, pitch - 5, height, tidy(s), null, "s"))
      : [label(words.empty, x, y + 22, "small")]),
  ];
}

const box = (x, y, width, height, value, name, q) =>
  group(
    { q },
    rect({ class: "kept", x, y, width, height, rx: 6 }),
    label(value, x + width / 2, y + 22, "middle"),
    name ? label(name, x + width / 2, y + height + 18, "small middle") : "",
  );

// ---- the words ---------------------------------------------------------------------

export function say({ scores, step }, { sum, count, mean, m, changed }, words) {
  if (step === 0) return words.sayEmpty;
  const values = {
    k: step,
    s: tidy(scores[step - 1]),
    sum: tidy(sum),
    count,
    mean: num(mean, 2),
    m: tidy(m),
    n: changed,
  };
  const change =
    step === 1
      ? words.sayFirst
      : !changed
        ? words.saySame
        : changed > 1
          ? words.sayRisen
          : words.sayRisenOne;
  return sentences([words.sayMean, change, words.sayCarry], values);
}

export function table({ scores }, _, words) {
  const rows = scores.map((s, i) => {
    const { sum, count, mean, m, l, changed } = compute({ scores, step: i + 1 });
    return [tidy(s), tidy(sum), count, num(mean, 2), tidy(m), num(l), changed];
  });
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
