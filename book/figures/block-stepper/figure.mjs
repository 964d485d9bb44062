// The block stepper: the same answer at every block size, and what a rescale does to
// everything already seen.

import { fading, picture, scale } from "livepage/picture.mjs";
import { group, label, level, line, rect, tag } from "livepage/shapes.mjs";
import { fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, block, step, forget }) {
  const trace = [{ m: -Infinity, alpha: 0, added: 0, l: 0, o: 0, start: 0, stop: 0 }];
  for (let start = 0; start < scores.length; start += block) {
    trace.push(update(trace[trace.length - 1], scores, start, block, forget));
  }
  const steps = trace.length - 1;
  const at = Math.min(step, steps);
  const [before, now] = [trace[Math.max(0, at - 1)], trace[at]];
  const truth = update(trace[0], scores, 0, scores.length, false);
  return {
    steps,
    trace,
    before,
    now,
    truth,
    risen: before.stop > 0 && now.m > before.m,
    weights: weights(scores, trace, now, forget),
    were: weights(scores, trace, before, forget),
    due: weights(scores, trace, now, false),
    tallest: Math.max(truth.l, ...trace.map(({ l }) => l)),
    right: near(now.l, truth.l) && near(now.o, truth.o),
  };
}

const near = (x, y) => Math.abs(x - y) <= 1e-9 * Math.abs(y);

/** The state after one more block: the four lines under the picture. */
function update(old, scores, start, block, forget) {
  const part = scores.slice(start, start + block);
  const m = Math.max(old.m, ...part);
  const alpha = Math.exp(old.m - shift(m));
  const fresh = part.map((s) => Math.exp(s - shift(m)));
  const added = fresh.reduce((sum, w) => sum + w, 0);
  const moment = fresh.reduce((sum, w, i) => sum + w * (start + i + 1), 0);
  const kept = forget ? 1 : alpha;
  const [l, o] = [old.l * kept + added, old.o * kept + moment];
  const stop = start + part.length;
  return { m, alpha, added, moment, l, o, top: Math.max(...part), start, stop };
}

/** The weight of each score seen so far; if never rescaled, its weight when it came. */
function weights(scores, trace, now, forget) {
  return scores.slice(0, now.stop).map((s, i) => {
    const { m } = forget ? trace.find(({ stop }) => i < stop) : now;
    return Math.exp(s - shift(m));
  });
}

/** What to subtract: where all is −∞, nothing, since −∞ − (−∞) is no number. */
const shift = (m) => (m === -Infinity ? 0 : m);

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 390,
  left: 0,
  right: 500,
  column: 585,
  across: 44,
  roomy: true,
  scores: { low: 150, high: 34 },
  weights: { low: 350, high: 228 },
};
const NARROW = {
  width: 320,
  height: 380,
  left: 0,
  right: 236,
  column: 264,
  across: 36,
  roomy: false,
  scores: { low: 144, high: 34 },
  weights: { low: 340, high: 222 },
};

// The parts of the transition to the next block: the maximum rises, the old weights
// shrink, the new ones are added. One after the other, so that each is seen to cause the
// next.
const [RISE, SHRINK, ADD] = [
  [0, 0.25],
  [0.2, 0.55],
  [0.6, 1],
];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const pitch = (page.right - page.left) / state.scores.length;
  const { was, words } = view;
  const scene = {
    page,
    words,
    pitch,
    x: (i) => page.left + i * pitch,
    gap: Math.min(3, pitch / 6),
    forward: was && was.step === state.step - 1 && was.block === state.block,
    rescaled: numbers.risen,
  };
  return picture({ ...page, title: view.title, glide: scene.forward ? 1200 : 450 }, [
    captions(scene),
    bands(state, scene),
    scores(state, numbers, scene),
    maximum(state, numbers, scene),
    bars(numbers, scene),
    tags(state, numbers, scene),
    column(numbers, scene),
    state.output ? balance(numbers, scene) : "",
  ]);
}

function captions({ page, words }) {
  const x = page.left + 2;
  return [
    label(words.scores, x, page.scores.high - 20, { class: "caption", q: "s" }),
    label(words.weights, x, page.weights.high - 45, { class: "caption", q: "p" }),
  ];
}

/** A band behind each block; that of the current block is lit. */
function bands({ scores, block, step }, scene) {
  const count = Math.ceil(scores.length / block);
  return Array.from({ length: count }, (_, k) => {
    const from = scene.x(k * block);
    const to = scene.x(Math.min(scores.length, (k + 1) * block));
    return band(k, from, to, k + 1 - step, scene);
  });
}

function band(k, from, to, ahead, { page, words }) {
  const lit = ahead ? "" : " lit";
  const name = to - from > 60 ? fill(words.block, { k: k + 1 }) : `${k + 1}`;
  const panel = ({ high, low }, which) =>
    rect({
      key: `${which}${k}`,
      class: `band${lit}`,
      rx: 5,
      x: from + 1,
      width: to - from - 2,
      y: high - 10,
      height: low - high + 10,
    });
  return [
    panel(page.scores, "top"),
    panel(page.weights, "low"),
    !named(k, ahead, to - from)
      ? ""
      : label(name, (from + to) / 2, page.scores.low + 15, {
          key: `name${k}`,
          class: `small middle${lit}`,
        }),
  ];
}

/** Whether a block is named: where names would touch, every other one, and the lit one
 *  with its neighbours left out. */
function named(k, ahead, width) {
  if (width >= 21) return true;
  return width >= 13 && (ahead === 0 || (k % 2 === 0 && Math.abs(ahead) > 1));
}

/** Scores stand on, or hang from, their zero. */
function scores({ scores }, { now }, { page, pitch, x, gap }) {
  const y = heights(scores, page.scores);
  const bar = (s, i) =>
    s === -Infinity
      ? label("−∞", x(i) + pitch / 2, y(0) - 4, "small middle")
      : rect({
          key: `s${i}`,
          class: i < now.stop ? "score" : "score unseen",
          x: x(i) + gap,
          width: pitch - 2 * gap,
          y: Math.min(y(s), y(0)),
          height: Math.max(1, Math.abs(y(s) - y(0))),
        });
  const axis = { class: "axis", x1: page.left, x2: page.right, y1: y(0), y2: y(0) };
  return group({ q: "s" }, ...scores.map(bar), line(axis));
}

/** From a score to its height; zero is always in sight. */
function heights(scores, { low, high }) {
  const finite = scores.filter(Number.isFinite);
  return scale(Math.min(0, ...finite), Math.max(0, ...finite), low, high);
}

/** The running maximum; if this block raised it, also where it was. */
function maximum({ scores }, { now, before }, { page, words, rescaled }) {
  if (now.m === -Infinity) return "";
  const { left, right } = page;
  const y = heights(scores, page.scores);
  const text = { key: "mt", class: "max", at: RISE };
  return group(
    { key: "max", q: "m" },
    rescaled && before.m > -Infinity ? level(y(before.m), left, right, "max was") : "",
    level(y(now.m), left, right, { key: "m", class: "max", at: RISE }),
    label(fill(words.max, { m: num(now.m, 1) }), right + 8, y(now.m) + 5, text),
  );
}

/** Weights e^(s − m): all the old ones shrink together, then the new ones rise. */
function bars({ weights, were, due, before }, scene) {
  const { page, pitch, x, gap, forward, rescaled } = scene;
  const { low, high } = page.weights;
  const extent = (i, w) => {
    const tall = w * (low - high);
    const [y, height] = [low - tall, Math.max(0.5, tall)];
    return { x: x(i) + gap, width: pitch - 2 * gap, y, height };
  };
  const ghost = (w, i) => rect({ class: "ghost", ...extent(i, w) });
  const bar = (w, i) => {
    const fresh = i >= before.stop;
    const wrong = w > due[i] * (1 + 1e-9) ? " wrong" : "";
    return rect({
      key: `w${i}`,
      class: `weight ${fresh ? "new" : "old"}${wrong}`,
      at: fresh ? ADD : SHRINK,
      from: forward && fresh && { y: low, height: 0 },
      ...extent(i, w),
    });
  };
  return group(
    { key: "weights", q: "p" },
    ...(rescaled ? were.map(ghost) : []),
    ...weights.map(bar),
    level(low, page.left, page.right, "axis"),
  );
}

/** Over everything old: a bracket, and what it is multiplied by. */
function tags({ forget, step }, { now, before }, scene) {
  const { page, x, words, forward, rescaled } = scene;
  if (before.stop === 0) return "";
  const [from, to, y] = [page.left + 2, x(before.stop) - 2, page.weights.high - 17];
  const alpha = num(now.alpha);
  const text = !rescaled ? words.kept : forget ? words.forgotten : words.rescaled;
  const short = !rescaled ? "× 1" : forget ? words.forgottenShort : `× ${alpha}`;
  const tone = !rescaled ? "quiet" : forget ? "wrong" : "on";
  const said = fill(to - from > 9 * text.length ? text : short, { alpha });
  const middle = Math.max((from + to) / 2, from + 4 * said.length);
  const key = `tag${step}`;
  return group(
    { key, class: `tag ${tone}`, q: "alpha", ...fading([0.1, 0.3], forward) },
    tag("path", { d: `M${from} ${y + 5}v-5H${to}v5` }),
    label(said, middle, y - 6, "middle"),
  );
}

/** The sum as a column: what was kept, and what this block adds on top. */
function column({ now, before, truth, tallest, right, steps, trace }, scene) {
  const { page, forward } = scene;
  const {
    column: x,
    across: width,
    weights: { low },
  } = page;
  const high = page.roomy ? page.scores.high + 38 : page.weights.high - 10;
  const tall = (l) => (l / tallest) * (low - high);
  const kept = now.l - now.added;
  const y = low - tall(now.l);
  const done = now === trace[steps];
  return group(
    { key: "sum", q: "l" },
    rect({
      key: `kept${now.stop}`,
      class: "weight old",
      x,
      width,
      at: SHRINK,
      y: low - tall(kept),
      height: tall(kept),
      from: forward && { y: low - tall(before.l), height: tall(before.l) },
    }),
    rect({
      key: `added${now.stop}`,
      class: "weight new",
      x,
      width,
      at: ADD,
      y,
      height: tall(now.added),
      from: forward && { y: low - tall(kept), height: 0 },
    }),
    level(low, x - 8, x + width + 8, "axis"),
    done && !right ? rect({ class: "fault", x, width, y, height: tall(now.l) }) : "",
    done ? verdict(tall, truth, scene) : "",
    label(`ℓ = ${num(now.l)}`, x + width / 2, y - 9, {
      key: `l${now.stop}`,
      class: "strong middle",
      ...fading(ADD, forward),
    }),
    now.stop && page.roomy ? shares(now, kept, tall, scene) : "",
  );
}

/** Beside the column: how much of it is old, how much new. */
function shares({ added, stop }, kept, tall, { page, words, forward }) {
  const {
    column,
    across,
    weights: { low },
  } = page;
  const x = column + across + 10;
  if (kept > 0 && tall(kept + added) < 34) return "";
  const note = (name, text, l, at, from, to) =>
    label(fill(text, { l: num(l) }), x, low - tall((from + to) / 2) + 4, {
      key: `${name}${stop}`,
      class: "small",
      ...fading(at, forward),
    });
  return [
    kept > 0 ? note("old", words.keptShare, kept, SHRINK, 0, kept) : "",
    note("new", words.addedShare, added, ADD, kept, kept + added),
  ];
}

/** At the end: a line at the sum of all scores taken at once. */
function verdict(tall, truth, { page, words }) {
  const {
    column: x,
    across,
    weights: { low },
  } = page;
  const middle = Math.min(x + across / 2, page.width - 3.8 * words.truth.length);
  return [
    level(low - tall(truth.l), x - 8, x + across + 8, "truth"),
    label(words.truth, middle, low + 20, "truth middle"),
  ];
}

/** Where the weights balance: o / ℓ, with positions 1, 2, 3 … as values. */
function balance({ now }, { page, x, pitch }) {
  if (!(now.l > 0)) return "";
  const at = now.o / now.l;
  const [cx, y] = [x(at - 1) + pitch / 2, page.weights.low];
  return group(
    { key: "balance", q: "o", class: "balance" },
    tag("path", { key: "bp", d: "M0 0l8 13h-16z", transform: `translate(${cx} ${y})` }),
    label(`o/ℓ = ${num(at, 2)}`, Math.max(40, Math.min(page.right - 30, cx)), y + 32, {
      key: "bt",
      class: "middle",
    }),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ step, forget, output }, numbers, words) {
  const { steps, now, truth, risen, right } = numbers;
  if (step === 0) return words.sayEmpty;
  const change =
    step === 1
      ? words.sayFirst
      : !risen
        ? words.saySame
        : forget
          ? words.sayForgotten
          : words.sayRescaled;
  const balance = output && now.l > 0;
  const end =
    step < steps
      ? ""
      : right
        ? balance
          ? words.sayRightBoth
          : words.sayRight
        : balance
          ? words.sayWrongBoth
          : words.sayWrong;
  const values = {
    k: Math.min(step, steps),
    m: num(now.m, 1),
    l: num(now.l),
    alpha: num(now.alpha),
    o: num(now.o / now.l, 2),
    truth: num(truth.l),
    factor: num(now.l / truth.l, 2),
    balance: num(truth.o / truth.l, 2),
  };
  return sentences(
    [words.sayBlock, change, words.sayState, balance ? words.sayOutput : "", end],
    values,
  );
}

/** The lines of the update, with their present values. */
export function code({ step, forget, output }, { now, before, risen }) {
  const [old, m, alpha] = [num(before.m, 1), num(now.m, 1), num(now.alpha)];
  const times = forget ? "" : ` × [alpha: ${alpha}]`;
  const scaled = forget ? "" : " * [alpha: alpha]";
  const sum = (was, added, is) => `${num(was)}${times} + ${num(added)} = ${num(is)}`;
  const row = (q, text, value, rest = {}) => ({
    q,
    text,
    value: step ? value : "",
    ...rest,
  });
  const fault = forget && risen;
  return [
    row(
      "m",
      "m_new = max([m: m], max([s: s]))",
      `max([m: ${old}], [s: ${num(now.top, 1)}]) = [m: ${m}]`,
    ),
    row(
      "alpha",
      "alpha = exp([m: m] - [m: m_new])",
      `exp([m: ${old}] − [m: ${m}]) = [alpha: ${alpha}]`,
    ),
    row(
      "l",
      `l = [l: l]${scaled} + sum([p: exp(s - m_new)])`,
      sum(before.l, now.added, now.l),
      { fault },
    ),
    output &&
      row(
        "o",
        `o = [o: o]${scaled} + sum([p: exp(s - m_new)] * v)`,
        sum(before.o, now.moment, now.o),
        { fault },
      ),
    row("m", "m = [m: m_new]", m),
  ].filter(Boolean);
}

export function table(_, { trace }, words) {
  const row = ({ m, alpha, added, l, o }, k) => [
    k + 1,
    num(m, 1),
    num(alpha, 4),
    num(added, 5),
    num(l, 5),
    num(o / l, 3),
  ];
  const rows = trace.slice(1).map(row);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
