// The cover: scores pass a gate, one at a time, and are gone. Three numbers stay behind.

import { fill, group, label, line, num, picture, rect, tag } from "../host/kit.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, values, step }) {
  const trace = [{ m: -Infinity, l: 0, o: 0, alpha: 0, added: 0 }];
  for (let i = 0; i < scores.length; i++) {
    trace.push(update(trace[i], scores[i], values[i]));
  }
  const at = Math.min(step, scores.length);
  const now = trace[at];
  return {
    steps: scores.length, at, now, before: trace[Math.max(0, at - 1)],
    weights: scores.slice(0, at).map((s) => Math.exp(s - now.m)),
    widest: Math.max(...trace.map(({ l }) => l)),
  };
}

/** The pocket after one more score: rescale what is there, add what is new. */
function update(old, s, v) {
  const m = Math.max(old.m, s);
  const alpha = Math.exp(old.m - m);
  const added = Math.exp(s - m);
  return { m, alpha, added, l: alpha * old.l + added, o: alpha * old.o + added * v };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720, height: 312, pitch: 24, gate: 396, low: 160, high: 30,
  pocket: { x: 0, y: 208, width: 720, height: 98 }, cells: [0, 176, 440], bars: 220,
};
const NARROW = {
  width: 320, height: 452, pitch: 17, gate: 172, low: 152, high: 30,
  pocket: { x: 0, y: 196, width: 320, height: 252 }, cells: [0, 0, 0], bars: 284,
};

const HIGHEST = 4.6; // the scores' scale begins at zero
const SHRINK = [0, 0.55]; // everything old first …
const ENTER = [0.4, 1]; // … then the new one

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const tall = page.low - page.high;
  const scene = {
    page, words: view.words, wide: view.wide,
    forward: Boolean(view.was) && view.was.step === state.step - 1,
    x: (i) => page.gate + (i - numbers.at) * page.pitch,
    score: (s) => page.low - (s / HIGHEST) * tall,
    weight: (w) => w * tall * 0.62,
  };
  return picture({ ...page, title: view.title, glide: 620 }, [
    stream(state, numbers, scene), level(numbers, scene), gate(numbers, scene),
    pocket(numbers, scene), grip(numbers, scene),
  ]);
}

/** To the right of the gate scores to come; to its left what each is worth by now. */
function stream({ scores }, { at, weights }, scene) {
  const { page: { low, pitch, width }, x, score, weight } = scene;
  const seen = (w, i) => rect({ key: `w${i}`, class: `weight ${i === at - 1 ? "new" : "old"}`,
    x: x(i) + 3, width: pitch - 6, y: low - weight(w), height: Math.max(1, weight(w)),
    opacity: faded(x(i), scene), at: SHRINK, from: scene.forward && i === at - 1
      && { x: x(i + 1) + 3, y: low, height: 0 } });
  const coming = (s, i) => rect({ key: `s${i}`, class: "score unseen", x: x(i) + 3,
    width: pitch - 6, y: score(s), height: low - score(s), opacity: 1 });
  const visible = (i) => x(i) >= 0 && x(i) + pitch <= width;
  return [
    group({ q: "p" }, ...weights.map((w, i) => (visible(i) ? seen(w, i) : ""))),
    group({ q: "s" }, ...scores.map((s, i) => (i >= at && visible(i) ? coming(s, i) : ""))),
    line({ class: "axis", x1: 0, x2: width, y1: low, y2: low }),
  ];
}

/** The past is forgotten slowly, so that one sees it happen. */
const faded = (x, { page: { gate } }) => Math.max(0.12, Math.min(1, 0.1 + (x / gate) * 1.2));

/** The running maximum: what a coming score has to rise above. */
function level({ now }, { page, words, score }) {
  if (now.m === -Infinity) return "";
  const y = score(now.m);
  return group({ key: "level", q: "m" },
    line({ key: "m", class: "max", x1: page.gate, x2: page.width, y1: y, y2: y }),
    label(fill(words.level, { m: num(now.m, 1) }), { key: "mt", class: "max end",
      x: page.width, y: y - 8, stroke: "var(--panel)", "stroke-width": 5,
      "paint-order": "stroke" }));
}

/** Where the present is, and, when everything old has just shrunk, by how much. */
function gate({ at, now, before }, { page, words, wide }) {
  const { gate: x, low, high, pocket } = page;
  const risen = at > 1 && now.alpha < 1;
  const arrow = `M${x} ${high - 26}V${pocket.y - 14}m-6 -7l6 7l6 -7`;
  return [
    tag("path", { class: "flow", d: arrow, fill: "none", stroke: "currentColor", opacity: 0.35 }),
    label(words.gone, { class: "caption end", x: x - 14, y: high - 16 }),
    label(words.coming, { class: "caption", x: x + 14, y: high - 16 }),
    risen && before.m > -Infinity
      ? group({ key: "times", class: "tag on", q: "alpha" },
        label(fill(wide ? words.shrunk : words.shrunkShort, { alpha: num(now.alpha, 2) }),
          { class: "end", x: x - 14, y: low + 24 }))
      : "",
  ];
}

/** Three compartments: the largest score, the sum of weights, the answer so far. */
function pocket({ now, widest }, scene) {
  const { page, words, wide } = scene;
  const { x, y, width, height } = page.pocket;
  const row = (i) => (wide ? 0 : i * 82);
  const cell = (i, q, name, value, ...parts) => group({ key: q, q },
    label(name, { class: "caption", x: page.cells[i] + 18, y: y + 28 + row(i) }),
    label(value, { class: `count ${q === "m" ? "max" : ""}`, x: page.cells[i] + 18,
      y: y + 57 + row(i), "font-size": 22, "font-weight": 600 }), ...parts);
  const empty = now.m === -Infinity;
  return [
    rect({ class: "band", x, y, width, height, rx: 12 }),
    cell(0, "m", words.largest, `m = ${num(now.m, 1)}`),
    cell(1, "l", words.sum, `ℓ = ${num(now.l, 2)}`, sum(now, widest, row(1), scene)),
    cell(2, "o", words.answer, `o/ℓ = ${empty ? "?" : num(now.o / now.l, 2)}`,
      empty ? "" : answer(now, row(2), scene)),
  ];
}

/** The sum as a bar: what was kept, and what this score added. */
function sum({ l, added }, widest, down, { page, forward }) {
  const { cells, bars, pocket } = page;
  const long = (part) => (part / widest) * bars;
  const [x, y] = [cells[1] + 18, pocket.y + 70 + down];
  return [
    rect({ key: "kept", class: "weight old", x, y, height: 10, width: long(l - added), at: SHRINK }),
    rect({ key: "added", class: "weight new", x: x + long(l - added), y, height: 10,
      width: long(added), at: ENTER, from: forward && { width: 0 } }),
  ];
}

/** The answer so far: where the values balance, on a scale from 0 to 10. */
function answer({ o, l }, down, { page }) {
  const { cells, bars, pocket } = page;
  const [x, y] = [cells[2] + 18, pocket.y + 75 + down];
  return [
    line({ class: "axis", x1: x, x2: x + bars, y1: y, y2: y }),
    tag("circle", { key: "dot", class: "weight new", r: 7, cx: x + (o / l / 10) * bars, cy: y }),
  ];
}

/** The whole stream can be pulled along: its first score is what the hand holds. */
function grip({ at, steps }, { page: { gate, pitch, width, low } }) {
  const ends = { "data-low": gate, "data-high": gate - steps * pitch };
  return group({ class: "os-handle", "data-drag": "step", "data-axis": "x", ...ends,
    style: "touch-action: pan-y" },
    rect({ class: "target", x: 0, y: 0, width, height: low, rx: 0 }),
    tag("circle", { class: "ring", cx: gate - at * pitch, cy: low, r: 0, opacity: 0 }));
}

// ---- the words ---------------------------------------------------------------------

export function say({ step }, { at, steps, now, before }, words) {
  if (at === 0) return words.sayNothing;
  const values = { i: at, n: steps, m: num(now.m, 1), l: num(now.l, 2),
    o: num(now.o / now.l, 2), alpha: num(now.alpha, 2) };
  const change = step > 1 && now.m > before.m ? words.sayRescaled : words.sayAdded;
  const end = at === steps ? words.sayEnd : words.sayState;
  return [words.sayPassed, change, end].map((text) => fill(text, values)).join(" ");
}

export function table({ scores, values }, { at, now }, words) {
  const i = Math.max(0, at - 1);
  const row = [at, num(scores[i], 1), num(values[i], 1), num(now.m, 1), num(now.l, 4),
    num(now.o / now.l, 4)];
  return { caption: words.tableCaption, head: words.tableHead, rows: [row] };
}
