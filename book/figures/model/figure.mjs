// The model: it writes with your attention, and beside it with a mistake in it.

import { LONGEST } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, round, tag } from "livepage/shapes.mjs";
import { escape, fill, num, sentences } from "livepage/text.mjs";

const AT_ONCE = 8; // tokens that are written within a frame
const BITS = 52; // of a number

// ---- the numbers -------------------------------------------------------------------

export function compute(state, loaded) {
  if (!loaded) return { steps: LONGEST };
  const asked = chosen(state);
  const [right, own] = [loaded.rightly(asked), loaded.written(asked)];
  const texts = [right, own].map(({ tokens }) => tokens.join(""));
  const parts = [...texts[0], ""].findIndex(
    (letter, i) => letter !== (texts[1][i] ?? ""),
  );
  const same = texts[0] === texts[1];
  const { rightLoss } = loaded;
  return {
    steps: LONGEST,
    texts,
    parts: parts < 0 ? texts[0].length : parts,
    same,
    newest: [right, own].map(({ tokens }) => tokens.at(-1)),
    bits: same ? apart(right.logits, own.logits) : null,
    keys: own.tokens.slice(-own.scores.length),
    head: own,
    loss: {
      own: state.mistake === "none" ? rightLoss : loaded.loss(asked),
      right: rightLoss,
    },
  };
}

/** A state with its head's number, and as many steps as there are. */
const chosen = (state) => ({
  ...state,
  head: 4 * (state.layer - 1) + state.head - 1,
  step: Math.min(state.step, LONGEST),
});

/** While a slider moves, the text waits; what has been written is there at once. */
export function quick(state, loaded) {
  const asked = chosen(state);
  const wait =
    Math.max(loaded.missing(asked), 0) + Math.max(loaded.missingRight(asked), 0);
  return wait <= AT_ONCE && (state.mistake === "none" || loaded.isMeasured(asked));
}

/** How many of the last bits of two lists differ: of most numbers, and of any. */
function apart(ones, others) {
  const bits = (x, i) => {
    const size = Math.max(Math.abs(x), Math.abs(others[i]));
    const unit = 2 ** (Math.floor(Math.log2(size)) - BITS);
    return x === others[i]
      ? 0
      : Math.min(BITS, Math.ceil(Math.log2(Math.abs(x - others[i]) / unit + 1)));
  };
  const all = ones.map(bits).sort((a, b) => a - b);
  return { usual: all[all.length >> 1], most: all.at(-1) };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 500,
  letters: 84,
  beside: 41,
  lines: 8,
  tall: 18,
  text: { left: 0, top: 24 },
  other: { left: 366, top: 24 },
  column: 354,
  head: 208,
  right: 500,
  note: 508,
  scores: { high: 234, low: 304 },
  weights: { high: 322, low: 392 },
  sums: { high: 424, low: 484 },
  out: { left: 592, right: 720, high: 234, low: 392, name: 208 },
};
const NARROW = {
  width: 320,
  height: 590,
  letters: 37,
  beside: 37,
  lines: 5,
  tall: 17,
  text: { left: 0, top: 24 },
  other: { left: 0, top: 148 },
  column: 320,
  head: 268,
  right: 230,
  note: 234,
  scores: { high: 290, low: 340 },
  weights: { high: 356, low: 406 },
  sums: { high: 438, low: 480 },
  out: { left: 0, right: 236, high: 520, low: 582, name: 508 },
};

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const n = numbers.keys.length;
  const pitch = Math.min(30, page.right / n);
  const x = (i) => i * pitch;
  const scene = { page, words, n, x, wide, gap: Math.min(2, pitch / 6) };
  const looks = state.mistake === "none" ? words.looks : words.looksWrong;
  return picture({ ...page, title, glide: 120 }, [
    texts(state, numbers, scene),
    label(fill(looks, state), 0, page.head, { key: "looks", class: "caption" }),
    bands(numbers.head, scene),
    scores(numbers.head, scene),
    weights(numbers, scene),
    sums(numbers.head, scene),
    output(numbers.head, scene),
  ]);
}

/** What it writes as it should, and beside or under it what the mistake makes of it. */
function texts(state, numbers, scene) {
  const { page, words, wide } = scene;
  const right = state.mistake === "none";
  const alone = { ...page, lines: wide ? page.lines : 12, beside: page.letters };
  const first = right ? alone : page;
  const across = right ? page.width : page.column;
  const name = right ? fill(words.tiles, state) : words.right;
  const text = (i, form) => paragraph(state, numbers, i, { ...scene, page: form });
  const look = numbers.same ? "truth" : "wrong";
  return [
    sheet(name, page.text, across, first, "truth"),
    text(0, { ...first, at: page.text }),
    right ? "" : sheet(words.choices[state.mistake], page.other, across, page, look),
    right ? "" : text(1, { ...page, at: page.other }),
  ];
}

const sheet = (name, { left, top }, width, { lines, tall }, look) => {
  const key = `sheet${left}:${top}`;
  const height = lines * tall + 14;
  return [
    label(name, left + 2, top - 10, { key, class: `caption ${look}-ink` }),
    rect({ key, class: "band", rx: 5, x: left, y: top, width, height }),
  ];
};

/** The last lines of a text: the prompt, what was written, the newest token. Two
 *  texts side by side begin at the same line. */
function paragraph({ prompt }, { texts, newest, parts, same }, i, { page }) {
  const text = texts[i];
  const marks = [
    [0, "given"],
    [prompt.length, "fresh"],
    same ? [] : [parts, i ? "parted" : "there"],
    [Math.max(prompt.length, text.length - newest[i].length), "newest"],
  ].filter(([at]) => at < text.length);
  const look = (at) => marks.filter(([from]) => from <= at).map(([, name]) => name);
  const run = ([from, to]) =>
    tag("tspan", { class: look(from).join(" ") }, escape(text.slice(from, to)));
  const line = ([from, to], row) => {
    const cuts = marks.map(([at]) => at).filter((at) => at > from && at < to);
    const ends = [from, ...cuts.sort((a, b) => a - b), to];
    const runs = ends.slice(1).map((end, k) => run([ends[k], end]));
    const place = { x: page.at.left + 10, y: page.at.top + 19 + row * page.tall };
    const key = `line${i}:${row}`;
    return tag("text", { key, ...place, class: "written" }, runs.join(""));
  };
  const lines = Math.max(...texts.map((one) => wrapped(one, page.beside).length));
  return wrapped(text, page.beside)
    .slice(Math.max(0, lines - page.lines))
    .map(line);
}

/** Where lines begin and end: at a line's end, at a space, or where it is full. */
function wrapped(text, most) {
  const lines = [];
  for (let from = 0; from < text.length;) {
    const part = text.slice(from, from + most + 1);
    const end = part.indexOf("\n");
    const space = part.lastIndexOf(" ") + 1;
    const fits = part.length <= most ? part.length : space || most;
    const to = from + (end < 0 ? fits : end);
    if (to > from) lines.push([from, to]);
    from = end < 0 ? to : to + 1;
  }
  return lines;
}

/** Boxes as one shape: one for each would be too many to draw again with every token. */
function boxes(look, list) {
  const box = ({ x, y, width, height }) =>
    `M${round(x)} ${round(y)}h${round(width)}v${round(height)}h${round(-width)}z`;
  return tag("path", { class: look, d: list.map(box).join("") });
}

/** A box of a key, or of the keys of a tile, from one height to another. */
const box = ({ x, gap }, start, stop, from, to) => ({
  x: x(start) + gap,
  width: x(stop - start) - 2 * gap,
  y: Math.min(from, to),
  height: Math.max(0.5, Math.abs(from - to)),
});

/** A band for each tile, behind all three rows. */
function bands({ tiles }, scene) {
  const { page, gap } = scene;
  const first = tiles[0].start;
  const rows = [page.scores, page.weights, page.sums];
  const band = ({ start, stop }) =>
    rows.map(({ high, low }) =>
      box({ ...scene, gap: gap / 2 }, start - first, stop - first, high - 6, low),
    );
  return [
    boxes("band", tiles.slice(0, -1).flatMap(band)),
    boxes("band lit", band(tiles.at(-1))),
  ];
}

/** Each key's score, and the maximum so far, tile by tile. */
function scores({ scores, tiles }, scene) {
  const { page, x, words } = scene;
  const { high, low } = page.scores;
  const y = scale(Math.min(0, ...scores), Math.max(0, ...scores), low, high);
  const from = tiles[0].start;
  const seen = tiles.at(-1).stop - from;
  const all = scores.map((s, i) => box(scene, i, i + 1, y(s), y(0)));
  const climb = tiles.map(
    ({ m, start, stop }, k) =>
      `${k ? "V" : `M${x(start - from)} `}${round(y(m))}H${round(x(stop - from))}`,
  );
  const { m } = tiles.at(-1);
  return [
    group(
      { q: "s" },
      boxes("score", all.slice(0, seen)),
      boxes("score unseen", all.slice(seen)),
      level(y(0), 0, page.right, "axis"),
      label(words.scores, page.note, low, "caption"),
    ),
    group(
      { q: "m" },
      tag("path", { class: "climb", d: climb.join("") }),
      label(`m = ${num(m, 2)}`, page.note, Math.min(y(m) + 4, low - 18), "max"),
    ),
  ];
}

/** What each key counts for; where that is wrong, also what it should. */
function weights({ head, keys }, scene) {
  const { page, words } = scene;
  const { high, low } = page.weights;
  const { weights, due } = head;
  const y = scale(0, Math.max(...weights, ...due.weights), low, high);
  const bars = (list) => list.map((w, i) => box(scene, i, i + 1, y(w), low));
  const wrong = due.weights.map((w, i) => !(Math.abs(w - weights[i]) <= 1e-3));
  return group(
    { q: "p" },
    boxes(
      "ghost",
      bars(due.weights).filter((_, i) => wrong[i]),
    ),
    boxes(
      "weight wrong",
      bars(weights).filter((_, i) => wrong[i]),
    ),
    boxes(
      "weight new",
      bars(weights).filter((_, i) => !wrong[i]),
    ),
    level(low, 0, page.right, "axis"),
    label(words.weights, page.note, low, "caption"),
    names(weights, keys, scene).join(""),
  );
}

/** The tokens that count for most, as far as there is room for their names. */
function names(weights, keys, { page, x }) {
  const taken = [];
  const order = weights.map((_, i) => i).sort((a, b) => weights[b] - weights[a]);
  return order.slice(0, 8).map((i) => {
    const text = keys[i].replace("\n", "¶").trim() || "␣";
    const half = 4.6 * text.length + 2;
    const at = Math.min(page.right - half, Math.max(half, x(i + 0.5)));
    if (taken.some(([other, size]) => Math.abs(at - other) < half + size + 4))
      return "";
    taken.push([at, half]);
    return label(text, at, page.weights.low + 15, "small middle");
  });
}

/** The sum after each tile, and at the end what it should be. */
function sums({ tiles, due }, scene) {
  const { page, words, wide } = scene;
  const { high, low } = page.sums;
  const y = scale(0, Math.max(due.l, ...tiles.map(({ l }) => l)), low, high);
  const first = tiles[0].start;
  const columns = tiles.map(({ l, start, stop }) =>
    box(scene, start - first, stop - first, y(l), low),
  );
  const { l } = tiles.at(-1);
  const wrong = isWrong(tiles.at(-1), due);
  return group(
    { q: "l" },
    boxes("weight old", columns.slice(0, -1)),
    boxes("weight new", columns.slice(-1)),
    level(low, 0, page.right, "axis"),
    wrong ? level(y(due.l), 0, page.right, "truth") : "",
    label(`ℓ = ${num(l, 2)}`, page.note, low - 14, wrong ? "wrong-ink" : "strong"),
    wrong
      ? label(fill(words.due, { l: num(due.l, 2) }), page.note, low + 2, "truth")
      : "",
    wide && !wrong ? label(words.sums, page.note, low + 2, "caption") : "",
  );
}

const isWrong = ({ l }, due) => Math.abs(l - due.l) > 1e-3 * due.l;

/** The numbers of the output; a line marks each where it should be. */
function output({ out, due }, { page, words }) {
  const { left, right, high, low, name } = page.out;
  const wide = (right - left) / out.length;
  const most = Math.max(...[...out, ...due.out].map(Math.abs));
  const y = scale(-most, most, low, high);
  const place = { x: (i) => i * wide, gap: 1 };
  const bars = out.map((o, i) => {
    const found = box(place, i, i + 1, y(o), y(0));
    return {
      ...found,
      x: left + found.x,
      wrong: Math.abs(o - due.out[i]) > 1e-3 * most,
    };
  });
  const mark = (o, i) => `M${round(left + i * wide)} ${round(y(o))}h${round(wide)}`;
  return group(
    { q: "o" },
    label(words.output, left, name, "caption"),
    boxes(
      "weight wrong",
      bars.filter(({ wrong }) => wrong),
    ),
    boxes(
      "weight new",
      bars.filter(({ wrong }) => !wrong),
    ),
    tag("path", { class: "marks", d: due.out.map(mark).join("") }),
    level(y(0), left, right, "axis"),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say(state, numbers, words) {
  const { head, same, bits, loss, texts, parts } = numbers;
  const { l } = head.tiles.at(-1);
  const right = state.mistake === "none";
  const wrong = isWrong(head.tiles.at(-1), head.due);
  const told = {
    ...state,
    ...bits,
    mistake: words.choices[state.mistake],
    before: tail(texts[0].slice(0, parts)),
    written: tail(texts[1]),
    own: num(loss.own, 4),
    without: num(loss.right, 4),
    l: num(l, 2),
    due: num(head.due.l, 2),
    m: num(head.tiles.at(-1).m, 2),
  };
  const begun = state.step > 0;
  const unchanged = right ? words.saySame : words.sayUnheard;
  return sentences(
    [
      begun ? (same ? unchanged : words.sayParts) : words.sayNothing,
      begun && bits && (bits.most ? words.sayBits : words.sayNoBit),
      right ? words.sayLoss : words.sayLosses,
      wrong ? words.sayWrong : words.sayHead,
      wrong && words.sayColours,
      begun && words.sayWritten,
    ],
    told,
  );
}

/** The end of a text, on one line, from the beginning of a word. */
function tail(text) {
  const end = text.slice(-40).replace(/\n/g, " ");
  return (text.length > 40 ? end.replace(/^\S* /, "") : end).trim();
}

export function table(state, { texts, head, keys }, words) {
  const [first] = head.tiles;
  const row = ({ m, alpha, l, start, stop }, k) => [
    k + 1,
    keys.slice(start - first.start, stop - first.start).join("|"),
    num(Math.max(...head.scores.slice(start - first.start, stop - first.start))),
    num(m),
    num(alpha),
    num(l),
  ];
  const text = (name, i) => [name, texts[i]];
  return {
    caption: fill(words.tableCaption, state),
    head: words.tableHead,
    rows: [
      text(words.right, 0),
      ...(state.mistake === "none" ? [] : [text(words.choices[state.mistake], 1)]),
      ...head.tiles.map(row),
    ],
  };
}
