// The cover: a stream of scores passes, and only two numbers are kept.

import { handle, picture } from "livepage/picture.mjs";
import { group, label, level, rect, upright } from "livepage/shapes.mjs";
import { fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, step }) {
  const empty = { m: -Infinity, alpha: 0, l: 0 };
  const trace = [empty];
  for (const [i, s] of scores.entries()) trace.push(update(trace[i], s));
  const now = trace[Math.min(step, scores.length)];
  const weights = scores.slice(0, step).map((s) => Math.exp(s - now.m));
  return { steps: scores.length, trace, now, weights };
}

/** The state after one more score. */
function update(old, s) {
  const m = Math.max(old.m, s);
  const alpha = Math.exp(old.m - m);
  return { m, alpha, l: old.l * alpha + Math.exp(s - m) };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 354,
  left: 14,
  right: 706,
  axis: 166,
  high: 44,
  depth: 96,
  counts: 286,
  cards: { y: 304, height: 50, gap: 16, pad: 14, beside: 44, base: 32 },
};
const NARROW = {
  width: 320,
  height: 348,
  left: 14,
  right: 306,
  axis: 146,
  high: 44,
  depth: 84,
  counts: 252,
  cards: { y: 280, height: 66, gap: 8, pad: 10, beside: 10, base: 52 },
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
    maximum(state, numbers, scene),
    head(state, scene),
    captions(state, scene),
    pocket(state, numbers, scene),
  ]);
}

/** What the bars above the line are, and those below it. */
function captions({ scores, step }, { page, words, wide, x }) {
  const counts = wide ? words.counts : words.countsShort;
  const room = step < scores.length && x(step) < page.right - (wide ? 170 : 150);
  const waiting = { key: "waiting", class: "caption end", q: "s" };
  return [
    label(words.scores, page.left, 14, { class: "caption halo", q: "s" }),
    room ? label(words.waiting, page.right, page.axis + 24, waiting) : "",
    label(counts, page.left, page.counts, { class: "caption", q: "p" }),
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

/** The largest score that has passed; when it rises, the factor for everything old. */
function maximum({ step }, { now }, { page, x, y, words, wide }) {
  if (step === 0) return "";
  const end = x(step);
  const rise = step > 1 && now.alpha < 1;
  const first = end < page.left + (wide ? 190 : 140);
  const factor = fill(wide ? words.rescaled : words.rescaledShort, {
    alpha: num(now.alpha, 2),
  });
  return group(
    { key: "max", q: "m" },
    level(y(now.m), page.left, end, { key: "m", class: "max" }),
    label(
      rise ? factor : wide ? words.max : words.maxShort,
      first ? end + 14 : end - 14,
      y(now.m) - 9,
      {
        key: rise ? `a${step}` : "name",
        q: rise && "alpha",
        class: first ? "max halo" : "max end halo",
      },
    ),
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
    upright(at, 6, page.axis + page.depth + 8, {
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

/** All that is kept: two numbers. */
function pocket({ step }, { now }, { page, words, wide }) {
  const short = wide ? "" : "Short";
  return [
    card("m", "m", step ? num(now.m, 1) : "−∞", words[`max${short}`], 0, page),
    card("l", "ℓ", num(now.l, 2), words[`sum${short}`], 1, page),
  ];
}

function card(q, letter, value, text, i, { width: all, cards }) {
  const { y, height, gap, pad, beside, base } = cards;
  const width = (all - gap) / 2;
  const x = i * (width + gap);
  return group(
    { q },
    rect({ class: "card", x, y, width, height, rx: 10 }),
    label(letter, x + pad, y + 32, "letter"),
    label(value, x + width - pad, y + 32, "value end"),
    label(text, x + beside, y + base, "small"),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ scores, step }, { steps, now }, words) {
  const rises = step > 1 && now.alpha < 1;
  const passed = [words.sayNone, words.sayOne][step] ?? words.sayOn;
  const told =
    step === steps && step > 1
      ? [words.sayAll]
      : rises
        ? [words.sayRise]
        : [passed, step > 0 && scores[step] > now.m && words.sayNext];
  return sentences(told, {
    k: step,
    n: steps,
    m: num(now.m, 1),
    l: num(now.l, 2),
    alpha: num(now.alpha, 2),
  });
}

export function table({ scores }, { trace }, words) {
  const row = (k) => [k, num(trace[k].m, 1), num(trace[k].l)];
  const shown = [1, Math.ceil(scores.length / 2), scores.length];
  return { caption: words.tableCaption, head: words.tableHead, rows: shown.map(row) };
}
