// The balance: weights as masses, values as positions on a beam, o/ℓ where it is held up.
// If all masses are scaled alike, that is where it balances. If only the old ones are, o/ℓ
// moves, the masses do not, and the beam tips to its heavier side.

import { handle, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, round, tag, upright } from "livepage/shapes.mjs";
import { fill, num } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, values, m, rescale, ones }) {
  const half = Math.floor(scores.length / 2);
  const mOld = Math.max(-Infinity, ...scores.slice(0, half));
  const alpha = Math.exp(mOld - m);
  const factor = (sum) => (rescale === "both" || rescale === sum ? alpha : 1);
  const masses = scores.map((s, i) => {
    const fresh = i >= half;
    const mass = Math.exp(s - (fresh ? m : shift(mOld)));
    const [inL, inO] = fresh ? [mass, mass] : [mass * factor("l"), mass * factor("o")];
    return { value: ones ? 1 : values[i], fresh, mass, inL, inO, due: Math.exp(s - m) };
  });
  const total = (of) => masses.reduce((sum, each) => sum + of(each), 0);
  const [l, o] = [total(({ inL }) => inL), total(({ inO, value }) => inO * value)];
  const truth = total(({ due, value }) => due * value) / total(({ due }) => due);
  const past = ({ fresh, mass }) => (fresh ? 0 : mass);
  return {
    half,
    mOld,
    alpha,
    masses,
    l,
    o,
    truth,
    answer: o / l,
    oldL: total(past),
    oldO: total((each) => past(each) * each.value),
    right: Math.abs(o / l - truth) <= 1e-9 * Math.max(1, Math.abs(truth)),
    most: Math.max(...masses.map(({ value }) => value)),
    least: Math.min(...masses.map(({ value }) => value)),
  };
}

/** What to subtract: where all is −∞, nothing, since −∞ − (−∞) is no number. */
const shift = (m) => (m === -Infinity ? 0 : m);

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 396,
  left: 0,
  right: 600,
  grip: 630,
  unit: 42,
  room: 136,
  letter: 7.2,
  scores: { low: 118, high: 28 },
  beam: { y: 300, ground: 330, zero: 78, step: 40, edge: 704 },
};
const NARROW = {
  width: 320,
  height: 374,
  left: 0,
  right: 258,
  grip: 286,
  unit: 24,
  room: 112,
  letter: 6.8,
  scores: { low: 116, high: 28 },
  beam: { y: 280, ground: 308, zero: 18, step: 22, edge: 304 },
};

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const scene = {
    page,
    words: view.words,
    wide: view.wide,
    y: heights(state, page.scores),
    x: (value) => page.beam.zero + value * page.beam.step,
    pitch: (page.right - page.left) / state.scores.length,
  };
  return picture({ ...page, title: view.title, glide: 1200 }, [
    captions(scene),
    bands(numbers, scene),
    scores(state, scene),
    maxima(state, numbers, scene),
    ground(scene),
    truth(numbers, scene),
    fulcrum(numbers, scene),
    beam(numbers, scene),
  ]);
}

function captions({ page, words }) {
  const look = { class: "caption end", q: "p" };
  return label(words.masses, page.width, page.scores.low + 54, look);
}

/** From a score to its height; the slider's upper end is always in sight. */
function heights({ scores }, { low, high }) {
  const finite = scores.filter(Number.isFinite);
  return scale(Math.min(0, ...finite), Math.max(5, ...finite), low, high);
}

/** A band behind the old words and one, lit, behind the new ones. */
function bands({ half }, { page, pitch, words }) {
  const edge = page.left + half * pitch;
  const band = (from, to, text, lit) => [
    rect({
      class: `band${lit}`,
      rx: 5,
      x: from + 1,
      width: to - from - 2,
      y: page.scores.high - 10,
      height: page.scores.low - page.scores.high + 34,
    }),
    label(text, from + 4, page.scores.high - 16, `small${lit}`),
  ];
  return [
    band(page.left, edge, words.old, ""),
    band(edge, page.right, words.new, " lit"),
  ];
}

/** A bar for each score, with its word below. */
function scores({ scores }, { page, pitch, y, words, wide }) {
  const named = scores.length === words.sentence.length;
  const look = { class: "small middle", style: wide ? null : "font-size:12px" };
  const bar = (s, i) => {
    const x = page.left + i * pitch;
    const tall = Number.isFinite(s) ? Math.abs(y(s) - y(0)) : 0;
    return [
      rect({
        class: "score",
        x: x + pitch * 0.28,
        width: pitch * 0.44,
        y: Math.min(y(0), y(Math.max(s, -1e9))),
        height: Math.max(2, tall),
      }),
      named ? label(words.sentence[i], x + pitch / 2, page.scores.low + 17, look) : "",
    ].join("");
  };
  return group({ q: "s" }, ...scores.map(bar));
}

/** The lines that masses are measured from: m, and m_old where the old ones stayed at it. */
function maxima({ m, rescale }, { half, mOld, alpha }, { page, pitch, y }) {
  const edge = page.left + half * pitch;
  const left = rescale === "neither" ? edge : page.left;
  const stale = rescale === "neither" ? "max" : "max was";
  const [low, high] = [y(1), y(5)];
  return group(
    { key: "max", q: "m" },
    Number.isFinite(mOld) && alpha !== 1 ? level(y(mOld), page.left, edge, stale) : "",
    level(y(m), left, page.grip, { key: "m", class: "max" }),
    label(
      `m = ${num(m, 1)}`,
      page.grip > 600 ? page.grip + 18 : page.width,
      y(m) - (page.grip > 600 ? -5 : 18),
      { key: "mt", class: page.grip > 600 ? "max" : "max end" },
    ),
    handle({ control: "m", axis: "y", x: page.grip, y: y(m), low, high }),
  );
}

/** The ground, with a ruler from 0 to 10. */
function ground({ page, x, words, wide }) {
  const y = page.beam.ground;
  const tick = (value) => [
    upright(x(value), y, y + 6, "axis"),
    value % 5 ? "" : label(`${value}`, x(value), y + 20, "small middle"),
  ];
  return [
    level(y, x(-0.5), x(10.5), "axis"),
    Array.from({ length: 11 }, (_, value) => tick(value)),
    wide ? label(words.counter, x(0) - 12, y + 20, "small end") : "",
    wide ? label(words.water, x(10) + 14, y + 20, "small") : "",
  ];
}

/** The beam with its masses. First the support moves, then the beam gives way. */
function beam(numbers, scene) {
  const { y } = scene.page.beam;
  const ends = [scene.x(-0.5), scene.x(10.5)];
  return group(
    { key: "beam", at: [0.2, 1], sway: true, transform: lie(numbers, scene, ends) },
    level(y, ...ends, { class: "axis", style: "stroke-width:4" }),
    masses(numbers, scene),
  );
}

const STEEPEST = 7; // degrees

/** How the beam lies: level where it balances, else tipped to its heavier side, the more
 *  the further off it is held, until it touches the ground; where the support stands
 *  beyond its ends, it lies on the ground. */
function lie({ answer, truth, right }, { page, x }, [left, end]) {
  const { y, ground } = page.beam;
  const at = x(answer);
  const [held, fall] = [at >= left && at <= end, ground - y - 3];
  const pull = right ? 0 : truth - answer;
  const low = Math.asin(Math.min(1, fall / (pull > 0 ? end - at : at - left)));
  const most = Math.min(STEEPEST, (low * 180) / Math.PI);
  const turn = held ? most * Math.tanh(pull) : 0;
  const pivot = Math.min(end, Math.max(left, at));
  return `translate(0 ${held ? 0 : fall}) rotate(${round(turn)} ${round(pivot)} ${y})`;
}

/** Squares whose area is the mass; those of one value stand on each other. Outlined is
 *  what a sum counts instead. */
function masses({ masses }, scene) {
  const { page, x } = scene;
  const unit = page.unit * Math.min(1, page.room / highest(masses, page.unit));
  const piles = new Map();
  const square = ({ value, fresh, inL, inO, due }, i) => {
    const counted = Math.abs(inL - due) > Math.abs(inO - due) ? inL : inO;
    const [side, other] = [due, counted].map((mass) => Math.sqrt(mass) * unit);
    const pile = piles.get(value) ?? { tall: 0, side: 0 };
    const foot = page.beam.y - 2 - pile.tall;
    const wide = Math.max(side, other);
    piles.set(value, { tall: pile.tall + wide, side: Math.max(pile.side, wide) });
    const box = (a) => ({ x: x(value) - a / 2, y: foot - a, width: a, height: a });
    return [
      rect({ key: `w${i}`, class: `weight ${fresh ? "new" : "old"}`, ...box(side) }),
      Math.abs(other - side) > 0.5
        ? rect({ class: "weight wrong", ...box(other) })
        : "",
    ].join("");
  };
  return group(
    { key: "masses", q: "p" },
    ...masses.map(square),
    names(masses, piles, scene),
  );
}

/** How high the highest pile would be. */
function highest(masses, unit) {
  const piles = new Map();
  for (const { value, inL, inO, due } of masses) {
    const side = Math.sqrt(Math.max(inL, inO, due)) * unit;
    piles.set(value, (piles.get(value) ?? 0) + side);
  }
  return Math.max(...piles.values());
}

/** The words over their masses; a name that would run into the one before it, or into a
 *  larger mass beside it, goes up. */
function names(masses, piles, { page, x, words }) {
  if (masses.length !== words.sentence.length) return "";
  let last = { end: -Infinity, y: 0 };
  return [...piles.keys()]
    .sort((a, b) => a - b)
    .map((value) => {
      const here = words.sentence.filter((_, i) => masses[i].value === value);
      const text = here.length < 4 ? here.join(", ") : words.all;
      const half = (text.length * page.letter) / 2;
      const center = Math.max(half + 14, x(value)); // the beam may lean that far
      const under = [...piles].filter(
        ([other, { side }]) => Math.abs(x(other) - center) < half + 4 + side / 2,
      );
      const free = page.beam.y - 11 - Math.max(...under.map(([, { tall }]) => tall));
      const y = center - half < last.end + 5 ? Math.min(free, last.y - 14) : free;
      last = { end: center + half, y };
      return label(text, center, y, "small middle");
    })
    .join("");
}

/** A green mark on the ruler: where the masses balance. */
function truth({ truth, right }, { page, x, words }) {
  if (right) return "";
  const at = Math.min(page.beam.edge, Math.max(0, x(truth)));
  const y = page.beam.ground;
  const text = fill(words.truth, { truth: num(truth) });
  return group(
    { class: "balance" },
    upright(at, y - 7, y + 7, { key: "truth", class: "truth" }),
    label(text, Math.max(3.8 * text.length, at), y + 58, "truth middle"),
  );
}

/** The support, at o/ℓ; where that lies off the picture, an arrow says so. */
function fulcrum({ answer, right }, { page, x }) {
  const { y, ground, edge } = page.beam;
  const at = Math.min(edge, Math.max(12, x(answer)));
  const look = `fill:var(--panel);stroke:var(${right ? "--ink" : "--wrong"});stroke-width:3`;
  const text = `o/ℓ = ${num(answer)}${x(answer) > edge ? " →" : ""}`;
  const half = text.length * 4.2;
  const [tall, move] = [ground - y - 2, [0, 0.5]];
  return group(
    { key: "fulcrum", q: "o", class: "balance" },
    tag("path", {
      key: "support",
      at: move,
      d: `M0 0L-11 ${tall}L11 ${tall}Z`,
      style: `${look};stroke-linejoin:round`,
      transform: `translate(${round(at)} ${y + 3})`,
    }),
    label(text, Math.min(page.width - half, Math.max(half, at)), ground + 39, {
      key: "answer",
      at: move,
      class: "middle",
    }),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ m, rescale, ones }, numbers, words) {
  const { answer, truth, right, alpha, mOld, most, least } = numbers;
  const outside = answer > most + 1e-9 || answer < least - 1e-9;
  const values = {
    m: num(m, 1),
    mOld: num(mOld, 1),
    answer: num(answer),
    truth: num(truth),
    times: num(1 / alpha, 1),
    most: num(most, 0),
    least: num(least, 0),
  };
  const what = alpha === 1 ? words.saySame : words[`say_${rescale}`];
  const end = right
    ? ones
      ? words.sayOnes
      : words[rescale === "both" ? "sayRight" : "sayHere"]
    : !outside
      ? words.sayWrong
      : ones
        ? words.sayNotOne
        : words.sayOutside;
  return `${fill(what, values)} ${fill(end, values)}`;
}

/** The lines of the update, with their present values. */
export function code({ m, rescale }, { mOld, alpha, oldL, oldO, l, o, answer }) {
  const shrinks = (sum) => rescale === "both" || rescale === sum;
  const sumRow = (q, old, is, term) => {
    const kept = shrinks(q);
    const added = is - old * (kept ? alpha : 1);
    return {
      q,
      fault: !kept && alpha !== 1,
      text: `${q} = ${kept ? "[alpha: alpha] * " : ""}[${q}: ${q}] + sum(${term})`,
      value: `${kept ? `[alpha: ${num(alpha)}] × ` : ""}${num(old)} + ${num(added)} = ${num(is)}`,
    };
  };
  return [
    {
      q: "alpha",
      text: "alpha = exp([m: m] - [m: m_new])",
      value: `exp(${num(mOld, 1)} − ${num(m, 1)}) = ${num(alpha)}`,
    },
    sumRow("l", oldL, l, "[p: p]"),
    sumRow("o", oldO, o, "[p: p] * v"),
    {
      q: "o",
      text: "[o: o] / [l: l]",
      value: `${num(o)} / ${num(l)} = ${num(answer)}`,
    },
  ];
}

export function table(_, { masses, l, o }, words) {
  const rows = masses.map(({ value, inL, inO }, i) => [
    words.sentence[i] ?? i + 1,
    num(value, 1),
    num(inL, 4),
    num(inO, 4),
    num(inO * value, 4),
  ]);
  const sum = [words.sum, "", num(l, 4), "", num(o, 4)];
  return { caption: words.tableCaption, head: words.tableHead, rows: [...rows, sum] };
}
