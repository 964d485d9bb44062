// The cover: a stream of scores passes, and only three numbers are kept.

import { handle, picture } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, step }) {
  const empty = { m: -Infinity, alpha: 0, l: 0, o: 0 };
  const trace = [empty];
  for (const [i, s] of scores.entries()) trace.push(update(trace[i], s, i + 1));
  const now = trace[Math.min(step, scores.length)];
  const weights = scores.slice(0, step).map((s) => Math.exp(s - now.m));
  return { steps: scores.length, trace, now, weights };
}

/** The state after one more score, whose value is its number in the stream. */
function update(old, s, v) {
  const m = Math.max(old.m, s);
  const alpha = Math.exp(old.m - m);
  const w = Math.exp(s - m);
  return { m, alpha, l: old.l * alpha + w, o: old.o * alpha + w * v };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 366,
  left: 14,
  right: 706,
  axis: 166,
  high: 32,
  depth: 96,
  cards: { y: 300, height: 64, gap: 16, pad: 14 },
};
const NARROW = {
  width: 320,
  height: 340,
  left: 14,
  right: 306,
  axis: 146,
  high: 32,
  depth: 84,
  cards: { y: 272, height: 66, gap: 8, pad: 10 },
};

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const pitch = (page.right - page.left) / state.scores.length;
  const scale = (page.axis - page.high) / Math.max(...state.scores);
  const scene = {
    page,
    pitch,
    words: view.words,
    wide: view.wide,
    forward: view.was && view.was.step === state.step - 1,
    x: (i) => page.left + i * pitch,
    y: (s) => page.axis - s * scale,
  };
  return picture({ ...page, title: view.title, glide: 420 }, [
    skyline(state, scene),
    reflection(state, numbers, scene),
    balance(numbers, scene),
    maximum(state, numbers, scene),
    head(state, scene),
    captions(scene),
    pocket(state, numbers, scene),
  ]);
}

/** What the bars above the line are, and those below it. */
function captions({ page, words, wide }) {
  const low = page.axis + page.depth + 22;
  return [
    label(words.scores, page.left, page.high - 16, { class: "caption halo", q: "s" }),
    wide ? label(words.terms, page.right, low, { class: "caption end", q: "p" }) : "",
  ];
}

/** Scores stand on the line; those that have passed are shadows. */
function skyline({ scores, step }, { page, x, y, pitch }) {
  const look = (i) => (i >= step ? "unseen" : i === step - 1 ? "" : "gone");
  const bar = (s, i) =>
    rect({
      key: `s${i}`,
      class: `score ${look(i)}`,
      x: x(i) + pitch * 0.14,
      width: pitch * 0.72,
      y: y(s),
      height: page.axis - y(s),
    });
  return group({ key: "scores", q: "s" }, ...scores.map(bar));
}

/** The weights hang below the line: each score measured from the largest so far. */
function reflection({ step }, { weights }, { page, x, pitch, forward }) {
  const top = page.axis + 3;
  const bar = (w, i) => {
    const fresh = i === step - 1;
    return rect({
      key: `w${i}`,
      class: `weight ${fresh ? "new" : "old"}`,
      x: x(i) + pitch * 0.14,
      width: pitch * 0.72,
      y: top,
      height: Math.max(0.5, w * page.depth),
      at: fresh ? [0.4, 1] : [0, 0.6],
      from: forward && fresh && { height: 0 },
    });
  };
  return group(
    { key: "weights", q: "p" },
    ...weights.map(bar),
    level(page.axis + 1, page.left, page.right, "axis"),
  );
}

/** Where the weights balance: the answer so far, o / ℓ. */
function balance({ now }, { page, x, pitch }) {
  if (!now.l) return "";
  const at = x(now.o / now.l - 0.5);
  const y = page.axis + page.depth + 10;
  const late = at > page.right - 70;
  return group(
    { key: "balance", q: "o", class: "balance" },
    tag("path", { key: "bp", d: "M0 0l8 13h-16z", transform: `translate(${at} ${y})` }),
    label("o/ℓ", at + (late ? -13 : 13), y + 12, {
      key: "bt",
      class: late ? "end" : "",
    }),
  );
}

/** The running maximum of what has passed; when it rises, the factor for everything old. */
function maximum({ step }, { now }, { page, x, y, words, wide }) {
  if (step === 0) return "";
  const end = x(step);
  const rise = step > 1 && now.alpha < 1;
  const first = end < page.left + (wide ? 190 : 70);
  const text = fill(wide ? words.rescaled : "× {alpha}", { alpha: num(now.alpha, 2) });
  return group(
    { key: "max", q: "m" },
    level(y(now.m), page.left, end, { key: "m", class: "max" }),
    rise
      ? label(text, first ? end + 10 : end - 14, y(now.m) - 9, {
          key: `a${step}`,
          q: "alpha",
          class: first ? "max halo" : "max end halo",
        })
      : "",
  );
}

/** The reading head, to be dragged along the stream. */
function head({ step }, { page, x, words }) {
  const at = x(step);
  const beside = at < page.right - 60;
  return [
    beside
      ? label(words.drag, at + 18, page.axis + 24, { key: "drag", class: "small" })
      : "",
    upright(at, page.high - 26, page.axis + page.depth + 8, {
      key: "head",
      class: "head",
    }),
    handle({
      control: "step",
      axis: "x",
      x: at,
      y: page.axis + 1,
      low: page.left,
      high: page.right,
    }),
  ];
}

/** All that is kept: three numbers. */
function pocket({ step }, { now }, { page, words, wide }) {
  const short = wide ? "" : "Short";
  return [
    card("m", "m", step ? num(now.m, 1) : "−∞", words[`max${short}`], 0, page),
    card("l", "ℓ", num(now.l, 2), words[`sum${short}`], 1, page),
    card("o", "o", num(now.o, 1), words[`output${short}`], 2, page),
  ];
}

function card(q, letter, value, text, i, { width: all, cards }) {
  const { y, height, gap, pad } = cards;
  const width = (all - 2 * gap) / 3;
  const x = i * (width + gap);
  return group(
    { q },
    rect({ class: "card", x, y, width, height, rx: 10 }),
    label(letter, x + pad, y + 29, "letter"),
    label(value, x + width - pad, y + 29, "value end"),
    label(text, x + pad, y + height - 14, "small"),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ step }, { steps, now }, words) {
  const rise = step > 1 && now.alpha < 1;
  const template =
    step === 0
      ? words.sayStart
      : step === 1
        ? words.sayOne
        : step === steps
          ? words.sayEnd
          : rise
            ? words.sayRise
            : words.sayOn;
  const values = {
    k: step,
    n: steps,
    m: num(now.m, 1),
    l: num(now.l, 2),
    o: num(now.o, 1),
    alpha: num(now.alpha, 2),
    answer: num(now.o / now.l, 1),
  };
  return fill(template, values);
}

export function table({ scores }, { trace }, words) {
  const row = (k) => [k, num(trace[k].m, 1), num(trace[k].l), num(trace[k].o)];
  const shown = [1, Math.ceil(scores.length / 2), scores.length];
  return { caption: words.tableCaption, head: words.tableHead, rows: shown.map(row) };
}
