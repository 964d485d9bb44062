// One factor: a film of the rescale. Everything in it is a function of the time t.
//
// A bar is as tall as its score counts, e^{s − m}. In a rescale m runs from the old
// largest score to the new one, and with it everything shrinks, as when a camera backs
// away from somebody tall.

import { ALL, BEATS, CAPTIONS, SCORES, STILLS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, level, rect, tag } from "livepage/shapes.mjs";
import { fill, num } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ t }) {
  const joined = BEATS.filter(({ join }) => join[1] <= t).length;
  const called = BEATS.filter(({ call }) => call <= t).length;
  const m = measuredFrom(t);
  const kept = TRACE[joined];
  return {
    m,
    joined,
    called,
    l: joined ? kept.l * Math.exp(kept.m - m) : 0,
    worth: SCORES.map((s) => Math.exp(s - m)),
    alpha: lastFactor(called),
    truth: sumAtOnce(),
  };
}

/** The book's update, one score at a time: the largest so far, the factor, the sum. */
const TRACE = SCORES.reduce(
  (trace, s) => {
    const old = trace[trace.length - 1];
    const m = Math.max(old.m, s);
    const alpha = Math.exp(old.m - m);
    return [...trace, { s, m, alpha, l: old.l * alpha + Math.exp(s - m) }];
  },
  [{ m: -Infinity, l: 0 }],
);

/** What everything old was last multiplied by, at the call of a larger score. */
function lastFactor(called) {
  const rises = TRACE.slice(2, called + 1).filter(({ alpha }) => alpha < 1);
  return rises.length ? rises[rises.length - 1].alpha : 1;
}

function sumAtOnce() {
  const m = Math.max(...SCORES);
  return SCORES.reduce((sum, s) => sum + Math.exp(s - m), 0);
}

/** The largest score so far; in a rescale, on its way to the new one. */
function measuredFrom(t) {
  const on = (m, { shrink }, i) =>
    m + (shrink ? (SCORES[i] - m) * eased(shrink, t) : 0);
  return BEATS.reduce(on, SCORES[0]);
}

/** How much of a movement is done, from 0 to 1: it starts and ends gently. */
function eased([start, end], t) {
  const part = Math.min(1, Math.max(0, (t - start) / (end - start)));
  return part ** 3 * (part * (6 * part - 15) + 10);
}

// ---- the picture -------------------------------------------------------------------

const POSTER = 15.7; // s; the moment that invites

const WIDE = {
  width: 720,
  height: 400,
  ground: 344,
  unit: 140,
  first: 84,
  pitch: 68,
  across: 52,
  stream: 524,
  whole: 638,
  equals: 618,
  measure: [2, "max"],
  names: [
    [524, 0, "middle"],
    [638, 0, "middle"],
  ],
  digits: 3,
};
const NARROW = {
  width: 320,
  height: 360,
  ground: 304,
  unit: 122,
  first: 4,
  pitch: 28,
  across: 24,
  stream: 194,
  whole: 266,
  equals: 251,
  measure: [318, "max end halo"],
  names: [
    [194, 0, "middle"],
    [306, 20, "end"],
  ],
  digits: 2,
};

// A still stands alone on the page: what is tallest in it reaches up to its edge.
const STILL = { ...NARROW, unit: 92, measure: [112, "max"], counted: true };

/** The page of a still: no taller than what stands in it. */
function cropped(t, { l, called, joined, worth }) {
  const inHand = called > joined ? worth[called - 1] : 0;
  const tallest = Math.max(inHand, rescaling(t)?.old.l ?? 0, l);
  const above = t < ALL.equal[0] ? 22 : 44; // units, for the words on top
  const ground = Math.ceil(STILL.unit * tallest) + above;
  return { ...STILL, ground, height: ground + 44 };
}

export function draw({ t }, numbers, view) {
  const page = view.still ? cropped(t, numbers) : view.wide ? WIDE : NARROW;
  const parts =
    t > 0
      ? moment(t, numbers, page, view.words)
      : poster(page, moment(POSTER, compute({ t: POSTER }), page, view.words));
  return picture({ ...page, title: view.title }, parts);
}

function moment(t, numbers, page, words) {
  const scene = {
    t,
    page,
    words,
    ...numbers,
    slot: (i) => page.first + i * page.pitch,
    tall: (worth) => worth * page.unit,
    shown: (from, over = 0.3) => eased([from, from + over], t),
  };
  return [
    slots(scene),
    measure(scene),
    once(scene),
    tower(scene),
    newcomer(scene),
    level(page.ground, 0, page.width, "axis"),
    pocket(scene),
  ];
}

/** A bar that stands `from` above the ground; what is beyond the picture is cut off. */
function bar(x, from, worth, look, { page, tall }) {
  const low = page.ground - tall(from);
  const high = Math.max(0, low - tall(worth));
  const seam = tall(worth) > 3 ? 1 : 0;
  const height = Math.max(0, low - high - seam);
  return rect({ x, width: page.across, y: low - height, height, ...look });
}

/** Where the scores stand: empty, with their number while they are in hand, and again. */
function slots({ t, page, slot, joined, called, shown }) {
  const box = (s, i) => {
    const { call, join } = BEATS[i];
    const seen = Math.max(shown(call) - shown(join[0], 0.5), shown(ALL.call));
    const look = i >= called ? " unseen" : i < joined && t < ALL.call ? " gone" : "";
    return group(
      { key: `slot${i}` },
      rect({
        class: `slot${look}`,
        x: slot(i),
        y: page.ground + 9,
        width: page.across,
        height: 30,
        rx: 6,
      }),
      label(num(s, 1), slot(i) + page.across / 2, page.ground + 29, {
        class: "middle",
        opacity: seen,
      }),
    );
  };
  return group({ q: "s" }, ...SCORES.map(box));
}

/** The line that the largest so far reaches, and, in a rescale, where it was before. */
function measure({ t, page, words, m, tall, shown }) {
  const y = page.ground - tall(1);
  const [x, look] = page.measure;
  const begun = shown(BEATS[0].grow[1] - 0.2, 0.5);
  const room = x < page.stream ? 1 : 1 - eased(ALL.grow, t);
  return group(
    { q: "m", opacity: begun },
    level(y, 0, page.width, "max"),
    label(fill(words.measure, { m: num(m, 1) }), x, y - 9, {
      class: look,
      opacity: room,
    }),
  );
}

/** In hand: the beat of the rescale that is on, or of the one before it has faded. */
function rescaling(t) {
  const i = BEATS.findIndex(
    ({ shrink, join }) => shrink && shrink[0] <= t && t < join[1],
  );
  if (i < 0) return null;
  const { shrink, join } = BEATS[i];
  const [old, score] = [TRACE[i], SCORES[i]];
  const m = old.m + (score - old.m) * eased(shrink, t);
  const fading = 1 - eased([join[0], join[1]], t);
  const begun = eased([shrink[0], shrink[0] + 0.3 * (shrink[1] - shrink[0])], t);
  return { old, alpha: Math.exp(old.m - m), opacity: begun * fading };
}

/** What has been counted: a part for each score, all measured from one number. */
function tower(scene) {
  const { t, page, joined, worth } = scene;
  const x = page.stream;
  const now = rescaling(t);
  const labelled = page.counted && !now && t < ALL.call;
  let from = 0;
  const parts = worth.slice(0, joined).map((w, i) => {
    from += w;
    const look = { key: `part${i}`, class: "weight old" };
    const part = bar(x, from - w, w, look, scene);
    return labelled ? part + beside(from - w / 2, w, scene) : part;
  });
  return group({ q: "l" }, ...parts, now ? before(now, scene) : "");
}

/** In a still, what a part of the tower counts. */
function beside(middle, w, { page, tall }) {
  const x = page.stream + page.across + 6;
  return label(num(w, 2), x, page.ground - tall(middle) + 5, "worth");
}

/** How tall the tower was, and the line that was at 1: it falls with everything. */
function before({ old, alpha, opacity }, { page, words, tall }) {
  const y = page.ground - tall(alpha);
  return group(
    { key: "before", q: "alpha", opacity },
    rect({
      class: "ghost",
      x: page.stream,
      width: page.across,
      y: page.ground - tall(old.l),
      height: tall(old.l),
    }),
    level(y, 0, page.stream + page.across + 6, "max was"),
    label(
      fill(words.factor, { alpha: num(alpha, 2) }),
      page.stream + page.across + 10,
      y + 7,
      "factor halo",
    ),
  );
}

/** The score in hand: its bar grows, waits while all shrinks, and joins the tower. */
function newcomer(scene) {
  const { t, page, slot, called, joined, worth, l, tall } = scene;
  const i = called - 1;
  if (i < joined) return "";
  const { grow, join } = BEATS[i];
  const [x, from] = way(slot(i), page.stream, l, join, scene);
  const w = worth[i] * eased(grow, t);
  const excess = Math.max(0, w - 1);
  const top = page.ground - tall(from + w);
  const opacity = eased([grow[1] - 0.2, grow[1]], t) - eased(join, t);
  return group(
    { key: `new${i}`, q: "p" },
    bar(x, from, w, { class: "weight new" }, scene),
    excess ? bar(x, 1, excess, { class: "excess" }, scene) : "",
    top < 0 ? torn(x, page.across) : "",
    count(w, x, top, opacity, scene),
  );
}

/** What a bar counts, above it; beside it where it goes on beyond the picture. */
function count(w, x, top, opacity, { page: { across } }) {
  const [at, y, look] =
    top < 16 ? [x - 7, 20, "end"] : [x + across / 2, top - 7, "middle"];
  return label(num(w, 2), at, y, { class: `worth ${look}`, opacity });
}

/** The upper edge of a bar that is cut off. */
function torn(x, across) {
  const tooth = across / 8;
  const teeth = `l${tooth} 7l${tooth} -7`.repeat(4);
  return tag("path", { class: "torn", d: `M${x} 1${teeth}V-2H${x}z` });
}

/** From its slot onto a tower: up first, then across, and down the last bit. */
function way(x, to, height, [start, end], { t, page }) {
  const span = end - start;
  const up = eased([start, start + 0.6 * span], t);
  const across = eased([start + 0.15 * span, end], t);
  const over = height ? 0.1 * Math.sin(Math.PI * up) : 0;
  return [x + (to - x) * across, height * up + over];
}

/** At the end: every score once more, all at the same time, onto a tower of their own. */
function once(scene) {
  const { t, page, words, slot, worth, tall, truth } = scene;
  if (t < ALL.grow[0]) return "";
  let from = 0;
  const bars = worth.map((w, i) => {
    from += w;
    const [x, up] = way(slot(i), page.whole, from - w, ALL.join, scene);
    return bar(x, up, w * eased(ALL.grow, t), { class: "weight once" }, scene);
  });
  const y = page.ground - tall(truth);
  const opacity = eased(ALL.equal, t);
  const name = (text, [x, up, look]) =>
    label(text, x + page.across / 2, y - 10 - up, { class: `truth ${look}`, opacity });
  return [
    ...bars,
    level(y, page.stream - 8, page.whole + page.across + 8, {
      class: "truth",
      opacity,
    }),
    name(words.stream, page.names[0]),
    name(words.whole, page.names[1]),
  ].join("");
}

/** The sum, under its tower; and at the end the other one, under the other. */
function pocket({ t, page, l, joined, truth, shown }) {
  const { stream, whole, equals, across, digits } = page;
  const y = page.ground + 30;
  const sum = (text, x, opacity) => label(text, x, y, { class: "sum middle", opacity });
  const begun = shown(BEATS[0].join[1]);
  const end = eased(ALL.equal, t);
  return group(
    { q: "l" },
    joined ? sum(`ℓ = ${num(l, digits)}`, stream + across / 2, begun) : "",
    sum(num(truth, digits), whole + across / 2, end),
    sum("=", equals, end),
  );
}

/** Before the first frame: a later moment, pale, and what invites to play. */
function poster({ width, ground }, parts) {
  const where = { class: "start", transform: `translate(${width / 2} ${ground / 2})` };
  return [
    group({ class: "poster" }, ...parts),
    group(where, tag("circle", { r: 34 }), tag("path", { d: "M-10 -16v32l28 -16z" })),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say({ t }, { alpha, truth }, words) {
  const i = CAPTIONS.filter((start) => start <= t).length - 1;
  return fill(words.captions[i], { alpha: num(alpha, 2), truth: num(truth) });
}

/** What stands under a still: the story in four sentences. */
export function retell({ t }, { m, called, worth, l, alpha, truth }, words) {
  const last = Math.max(0, called - 1);
  return fill(words.stills[STILLS.indexOf(t)], {
    s: num(SCORES[last], 1),
    m: num(m, 1),
    w: num(worth[last], 2),
    l: num(l, 2),
    alpha: num(alpha, 2),
    truth: num(truth, 2),
  });
}

export function table(_, __, words) {
  const row = ({ s, m, alpha, l }) => [num(s, 1), num(m, 1), num(alpha), num(l)];
  const rows = TRACE.slice(1).map(row);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
