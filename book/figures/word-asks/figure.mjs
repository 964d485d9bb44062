// A word asks the others: its scores, their shares, and the average of the values.

import { STEPS, WORDS } from "livepage/constants";
import { fading, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num, percent, sentences, tidy } from "livepage/text.mjs";

const N = WORDS.length;

// ---- the numbers -------------------------------------------------------------------

export function compute({ word, values, ...flat }) {
  const [Q, K] = [flat.Q, flat.K].map(rows);
  const who = WORDS.indexOf(word);
  const scores = K.map((key) => dot(Q[who], key));
  const most = Math.max(...scores);
  const terms = scores.map((s) => Math.exp(s - most));
  const total = terms.reduce((sum, term) => sum + term, 0);
  const shares = terms.map((term) => term / total);
  const best = WORDS.flatMap((_, k) => (scores[k] === most ? [k] : []));
  const answer = dot(shares, values);
  return { steps: STEPS, who, Q, K, scores, shares, best, answer };
}

const rows = (flat) =>
  WORDS.map((_, k) => flat.slice((k * flat.length) / N, ((k + 1) * flat.length) / N));
const dot = (a, b) => a.reduce((sum, x, i) => sum + x * b[i], 0);

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 520,
  left: 78,
  arc: { low: 138, near: 44, far: 25, whole: 56 },
  word: 160,
  size: 15,
  key: 187,
  value: 209,
  score: { high: 246, low: 284 },
  share: { low: 364, unit: 58, note: 382 },
  beam: { y: 472, zero: 112, step: 54 },
  letter: 7.2,
};
const NARROW = {
  width: 320,
  height: 484,
  left: 36,
  arc: { low: 124, near: 32, far: 19, whole: 32 },
  word: 143,
  size: 13,
  key: 168,
  value: 188,
  score: { high: 224, low: 258 },
  share: { low: 320, unit: 40, note: 337 },
  beam: { y: 426, zero: 54, step: 21.4 },
  letter: 6.6,
};
// The parts of the transition: shares fall onto the beam, then it finds its balance.
const [FALL, REST] = [
  [0, 0.75],
  [0.7, 1],
];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const pitch = (page.width - page.left) / N;
  const { values, step } = state;
  const { zero, step: unit } = page.beam;
  const [least, most] = [Math.min(0, ...values), Math.max(10, ...values)];
  const scene = {
    ...{ page, pitch, step, words: view.words, wide: view.wide },
    x: (k) => page.left + (k + 0.5) * pitch,
    place: scale(least, most, zero, zero + 10 * unit),
    forward: view.was && view.was.word === state.word && view.was.step === step - 1,
  };
  return picture({ ...page, title: view.title, glide: step === STEPS ? 1400 : 700 }, [
    question(numbers, scene),
    listening(numbers, scene),
    given(state, numbers, scene),
    scores(numbers, scene),
    shares(numbers, scene),
    beam(state, numbers, scene),
  ]);
}

const pair = (list) => `(${list.map((x) => tidy(x)).join(", ")})`;

/** The word that asks, lit, and what it asks with. */
function question({ who, Q }, { page, pitch, x, words }) {
  const asks = words.choices[WORDS[who]];
  return [
    rect({
      key: "asks",
      class: "band lit",
      rx: 6,
      x: x(who) - pitch / 2 + 1,
      y: page.word - 20,
      width: pitch - 2,
      height: page.share.note - page.word + 28,
    }),
    label(fill(words.query, { asks, query: pair(Q[who]) }), 0, 14, "caption"),
  ];
}

/** From each word an arc to the one that asks, as wide as its share. */
function listening({ who, shares }, { page, x, step }) {
  const { low, near, whole } = page.arc;
  const known = step > 1;
  const slots = landings(who, shares, x(who) - whole / 2, whole);
  const wide = shares.map((share) => (known ? Math.max(0.8, share * whole) : 1.2));
  const rise = heights(who, wide, page.arc);
  const arc = (k) => {
    const to = known ? slots[k] : x(who);
    return tag("path", {
      key: `a${k}`,
      class: known ? "hears" : "hears unseen",
      d:
        k === who
          ? stem(to, wide[k], low, near)
          : ribbon(x(k), to, wide[k], low, rise[k]),
    });
  };
  const far = (k) => Math.abs(k - who);
  const order = WORDS.map((_, k) => k).sort((a, b) => far(b) - far(a));
  return group({ q: "p" }, ...order.map(arc));
}

/** How far up each arc's outer edge is drawn: over the arcs below it. */
function heights(who, wide, { near, far }) {
  const rise = WORDS.map(() => 0);
  for (const way of [-1, 1]) {
    for (let k = who + way; k >= 0 && k < N; k += way) {
      const below = rise[k - way] && rise[k - way] + (wide[k] + 3) / 0.75;
      rise[k] = Math.max(near + far * Math.abs(k - who), below);
    }
  }
  return rise;
}

/** Where each arc lands on the word that asks: side by side, so that none cross. */
function landings(who, shares, left, whole) {
  const others = (from, to) =>
    WORDS.map((_, k) => k)
      .slice(from, to)
      .reverse();
  let at = left;
  const middle = (k) => {
    const half = (shares[k] * whole) / 2;
    at += 2 * half;
    return at - half;
  };
  const order = [...others(0, who), who, ...others(who + 1, N)];
  return Object.fromEntries(order.map((k) => [k, middle(k)]));
}

/** An arc of one width all the way, drawn as its outline. */
function ribbon(from, to, wide, low, rise) {
  const side = (x) => (to > x ? -1 : 1) * (wide / 2);
  const [a, b] = [from + side(from), to - side(from)];
  const [c, d] = [to + side(from), from - side(from)];
  const inner = rise - wide / 0.75;
  return path`M${a} ${low}C${a} ${low - rise} ${b} ${low - rise} ${b} ${low}L${c} ${low}C${c} ${low - inner} ${d} ${low - inner} ${d} ${low}Z`;
}

/** What a word hears of itself: a stem with a round top. */
function stem(x, wide, low, tall) {
  const [a, b, top] = [x - wide / 2, x + wide / 2, low - tall * 0.8];
  const up = top - wide / 1.5;
  return path`M${a} ${low}L${a} ${top}C${a} ${up} ${b} ${up} ${b} ${top}L${b} ${low}Z`;
}

const path = (text, ...numbers) =>
  text.map((each, i) => each + (numbers[i]?.toFixed(2) ?? "")).join("");

/** The words with what each of them brings: its key and its value. */
function given({ values }, { who, K }, { page, x, words }) {
  const row = (texts, y, look) =>
    texts.map((text, k) => label(text, x(k), y, `${look} middle`));
  const names = WORDS.map((word, k) =>
    label(words.choices[word], x(k), page.word, {
      class: k === who ? "strong middle" : "middle",
      style: `font-size:${page.size}px`,
    }),
  );
  return [
    names,
    caption(words.key, page.key),
    row(K.map(pair), page.key, "small"),
    caption(words.value, page.value),
    row(
      values.map((v) => tidy(v)),
      page.value,
      "small",
    ),
  ];
}

const caption = (text, y, q) => label(text, 0, y, { class: "caption", q });

/** How well each key fits the query. */
function scores({ scores }, { page, x, pitch, step, words }) {
  const { high, low } = page.score;
  const y = scale(Math.min(0, ...scores), Math.max(1, ...scores), low, high);
  const wide = Math.min(26, pitch * 0.44);
  const bar = (s, k) =>
    rect({
      key: `s${k}`,
      class: "score",
      x: x(k) - wide / 2,
      width: wide,
      y: Math.min(y(0), step ? y(s) : y(0)),
      height: step ? Math.max(1, Math.abs(y(s) - y(0))) : 0,
    });
  const number = (s, k) =>
    label(step ? tidy(s) : "", x(k), Math.min(y(s), y(0)) - 5, "small middle");
  return group(
    { q: "s" },
    caption(words.score, low),
    level(y(0), page.left, page.width, "axis"),
    ...scores.map(bar),
    ...scores.map(number),
  );
}

/** The shares as squares, by area; at the last step they have moved to the beam. */
function shares({ shares }, { page, x, step, words }) {
  const { low, unit, note } = page.share;
  const ghost = (share, k) => {
    const side = Math.sqrt(share) * unit;
    return rect({ class: "ghost", ...square(x(k), low, side) });
  };
  const text = (share, k) =>
    label(percent(share, share < 0.005 ? 1 : 0), x(k), note, "small middle");
  return group(
    { q: "p" },
    caption(words.share, note),
    step > 1 ? shares.map(text).join("") : "",
    step > 2 ? shares.map(ghost).join("") : "",
  );
}

const square = (x, foot, side) => ({
  x: x - side / 2,
  y: foot - side,
  width: side,
  height: side,
});

/** The beam: every word at its value, a square for its share, and where it balances. */
function beam({ values }, { shares, answer, who }, scene) {
  const { page, place, words, step, x, forward } = scene;
  const landed = step > 2;
  const weight = (share, k) => {
    const side = step > 1 ? Math.sqrt(share) * page.share.unit : 0;
    const [at, foot] = landed
      ? [place(values[k]), page.beam.y - 2]
      : [x(k), page.share.low];
    const look = { key: `w${k}`, class: "weight new", at: landed ? FALL : null };
    return rect({ ...look, ...square(at, foot, side) });
  };
  const word = words.choices[WORDS[who]];
  return [
    ruler(landed ? place(answer) : null, scene),
    group({ q: "p" }, ...shares.map(weight)),
    names(values, shares, scene),
    landed ? fulcrum(answer, word, scene, fading(REST, forward)) : "",
  ];
}

/** The beam with its scale; the number where the support stands gives way to it. */
function ruler(support, { page, place, words }) {
  const { y, zero, step } = page.beam;
  const tick = (_, v) => upright(place(v), y, y + 5, "axis");
  const number = (v) =>
    support !== null && Math.abs(place(v) - support) < 16
      ? ""
      : label(`${v}`, place(v), y + 21, "small middle");
  const look = { class: "axis", style: "stroke-width:4" };
  return group(
    { q: "o" },
    label(words.low, place(0) - 10, y + 21, "small end"),
    label(words.high, place(10) + 12, y + 21, "small"),
    level(y, zero - 8, zero + 10 * step + 8, look),
    ...Array.from({ length: 11 }, tick),
    ...[0, 5, 10].map(number),
  );
}

/** The words above the beam; one that would run into another goes up. */
function names(values, shares, { page, place, words, step }) {
  const order = WORDS.map((_, k) => k).sort((a, b) => values[a] - values[b]);
  const placed = [];
  return order.map((k) => {
    const text = words.choices[WORDS[k]];
    const [at, half] = [place(values[k]), (text.length * page.letter) / 2];
    const side = step > 2 ? Math.sqrt(shares[k]) * page.share.unit : 0;
    let y = page.beam.y - 9 - side;
    for (const other of placed.filter(({ end }) => at - half < end + 4)) {
      if (Math.abs(y - other.y) < 10) y = other.y - 15;
    }
    placed.push({ end: at + half, y });
    return label(text, at, y, { key: `n${k}`, class: "small middle halo" });
  });
}

/** The triangle under the beam, at the average. */
function fulcrum(answer, word, { page, place }, shown) {
  const { y } = page.beam;
  const at = place(answer);
  const d = path`M${at} ${y + 4}L${at - 9} ${y + 19}L${at + 9} ${y + 19}Z`;
  const text = `${word}: ${num(answer)}`;
  const half = text.length * 4.4;
  const x = Math.min(page.width - half, Math.max(half, at));
  return group(
    { key: "fulcrum", q: "o", class: "balance", ...shown },
    tag("path", { key: "triangle", d }),
    label(text, x, y + 38, { key: "answer", class: "middle" }),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say(
  { word, step, values },
  { who, Q, scores, shares, best, answer },
  words,
) {
  const name = (k) => words.quoted.replace("{word}", words.choices[WORDS[k]]);
  const told = {
    asks: words.choices[word],
    query: pair(Q[who]),
    score: tidy(scores[best[0]]),
    best: best.map(name).join(words.and),
    share: percent(shares[best[0]]),
    answer: num(answer),
    own: tidy(values[who]),
  };
  const parts = [
    [words.sayAsks],
    [words.sayScores],
    [best.length > 1 ? words.sayEach : words.sayShares],
    [words.sayAnswer],
  ];
  return sentences(parts[step], told);
}

/** The three lines that the chapter's cell has as well. */
export function code({ step }, { scores, shares, answer }, words) {
  const line = (at, q, text, value) => ({ q, text, value: step < at ? "" : value });
  return [
    line(1, "s", `[s: scores] = keys @ query`, scores.map((s) => tidy(s)).join("  ")),
    line(
      2,
      "p",
      "[p: weights] = softmax([s: scores])",
      shares.map((p) => num(p)).join("  "),
    ),
    line(3, "o", "answer = [p: weights] @ values", num(answer)),
  ];
}

export function table({ values }, { K, scores, shares, answer }, words) {
  const rows = WORDS.map((word, k) => [
    words.choices[word],
    pair(K[k]),
    tidy(scores[k]),
    num(shares[k]),
    tidy(values[k]),
    num(shares[k] * values[k]),
  ]);
  const sum = [words.sum, "", "", num(1), "", num(answer)];
  return { caption: words.tableCaption, head: words.tableHead, rows: [...rows, sum] };
}
