// One attention kernel in three texts: each step lights up in all of them, and beside its
// name stands what it costs in the two that are compiled.

import { COUNTS, FACTS, MMA, NAMES, SHOWN, TEXTS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect, tag } from "livepage/shapes.mjs";
import { escape, fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const STEPS = SHOWN.length;
const COMPILED = Object.keys(COUNTS);
const sum = (list) => list.reduce((total, x) => total + x, 0);

export function compute({ step }) {
  const costs = Object.fromEntries(COMPILED.map((text) => [text, perProduct(text)]));
  const totals = COMPILED.map((text) => costs[text].map(sum));
  return {
    steps: STEPS,
    at: Math.min(step, STEPS),
    costs,
    totals,
    most: totals.map((list) => 1 + largest(list.slice(0, STEPS))),
    kernel: totals.map(sum),
  };
}

const largest = (list) => list.indexOf(Math.max(...list));

/** What each step costs for each product, and last what stands around the steps:
 *  products, and all other instructions. A line of several steps is shared alike. */
function perProduct(text) {
  const sums = Array.from({ length: STEPS + 1 }, () => [0, 0]);
  for (const [steps, ...counts] of COUNTS[text])
    for (const step of steps)
      counts.forEach((count, k) => {
        sums[step ? step - 1 : STEPS][k] += count / steps.length / MMA[text];
      });
  return sums;
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  steps: { width: 184, pitch: 60, name: 15, x: 48, room: 98, down: [22, 36], bar: 10 },
  total: [0, 16],
  code: { x: 198, width: 522, letter: 7.35, row: 16, indent: 2 },
  rows: { numpy: 5, numba: 15, triton: 7 },
};
const NARROW = {
  width: 320,
  steps: { width: 320, pitch: 25, name: 16, x: 166, room: 118, down: [1, 12], bar: 8 },
  total: [160, 0],
  code: { x: 0, width: 320, letter: 6.6, row: 14, indent: 1 },
  rows: { numpy: 5, numba: 18, triton: 7 },
};
const [MARGIN, CAPTION, TOTAL, GAP] = [16, 18, 18, 5];

export function draw(_, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), wide, words, at: numbers.at };
  const end = CAPTION + words.steps.length * page.steps.pitch + TOTAL;
  let y = wide ? 0 : end + GAP;
  const texts = Object.keys(TEXTS).map((name) => {
    const top = y;
    y += CAPTION + page.rows[name] * page.code.row + GAP;
    return shown(name, top, page);
  });
  const look = wide ? "" : "slim";
  const parts = [
    legend(page, end),
    numbers.at ? COMPILED.map((text, i) => total(text, i, numbers, page, end)) : "",
    words.steps.map((name, k) => cost(name, k, numbers, page)),
    texts.map((text) => listing(text, page)),
    wide && numbers.at ? ties(texts, page) : "",
  ];
  return picture({ width: page.width, height: y, title, glide: 500 }, [
    group({ class: look }, ...parts.flat(Infinity)),
  ]);
}

/** What the bars are: full for products, hollow for all other instructions. */
function legend({ wide, words }, end) {
  const [x, y] = wide ? [4, end + 20] : [180, 3];
  return [
    label(words.costs, 0, 13, "caption"),
    [swatch("full", x, y), label(words.products, x + 21, y + 9.5, "of-step")],
    [swatch("", x + 58, y), label(words.others, x + 79, y + 9.5, "of-step")],
  ];
}

/** What a turn of the loop takes in all. */
function total(text, i, { kernel }, { words, total: [across, down] }, end) {
  const values = { text: words[text], others: num(kernel[i] - 1, 2) };
  return label(
    fill(words.total, values),
    4 + i * across,
    end - 6 + i * down,
    "of-step",
  );
}

const swatch = (look, x, y) =>
  rect({ class: `spent ${look}`, x, y: y + 0.5, width: 16, height: 9, rx: 1 });

/** A step: its name, and from the first step on what it costs in each compiled text. */
function cost(name, k, { at, costs, totals }, { steps, words, wide }) {
  const scale = steps.room / Math.max(...totals.flat());
  const y = CAPTION + k * steps.pitch;
  const lit = at === k + 1;
  const bars = at ? COMPILED : [];
  return group(
    { key: `step${k}`, q: SHOWN[k], "data-step": k < STEPS && k + 1 },
    rect({ class: "spot", x: 0, y, width: steps.width, height: steps.pitch - 1 }),
    lit ? band("step", 0, y, steps.width, steps.pitch - 3) : "",
    label(
      k < STEPS ? `${k + 1} ${name}` : name,
      4,
      y + steps.name,
      lit ? "lit-step" : "",
    ),
    wide
      ? label(words.formulas[k], steps.width - 4, y + steps.name, "of-step end")
      : "",
    ...bars.map((text, i) =>
      bar(costs[text][k], text, k, y + steps.down[i], scale, steps),
    ),
    ...bars.map((text, i) =>
      label(words[text], steps.x - 5, y + steps.down[i] + steps.bar - 1, "of-step end"),
    ),
  );
}

function bar([products, others], text, k, y, scale, { x, bar: height }) {
  const part = (look, count) =>
    rect({
      key: `${look}${text}${k}`,
      class: `spent ${look}`,
      from: { width: 0 },
      ...{
        x,
        y: y + 0.5,
        width: Math.max(1, count * scale),
        height: height - 1,
        rx: 1,
      },
    });
  const all = products + others;
  return [
    part("", all),
    products ? part("full", products) : "",
    label(num(all, 2), x + all * scale + 4, y + height - 0.5, "of-step"),
  ].join("");
}

const band = (key, x, y, width, height) =>
  rect({ key, class: "band lit", rx: 3, x, y, width, height });

// ---- the texts ----

/** The rows of a text that its window shows, and where they stand. */
function shown(name, y, { code, rows, at }) {
  const all = TEXTS[name].flatMap((line, k) => wrapped(line, k, code));
  for (const row of all) row.lit = row.pieces.some((piece) => lights(piece, at));
  const list = windowed(all, rows[name]);
  const first = list.findIndex(({ lit }) => lit);
  const middle = y + CAPTION + 1 + (first + 0.5) * code.row;
  return { name, y, list, lit: first < 0 ? null : middle };
}

/** Whether a piece lights up in a step; the sign for lines left out never does. */
const lights = ({ step, text }, at) => at > 0 && step === at && text !== "…";

/** A line in rows that fit: pieces of text, each with its step and its column. */
function wrapped([depth, ...parts], k, { width, letter, indent }) {
  const room = Math.floor((width - MARGIN - 4) / letter);
  const rows = [{ key: `${k}-0`, opens: true, pieces: [] }];
  let column = depth * indent;
  for (let i = 0; i < parts.length; i += 2)
    for (const text of parts[i + 1].match(/ *[^ ]+ */g)) {
      if (column + text.trimEnd().length > room) {
        column = (depth + 2) * indent;
        rows.push({ key: `${k}-${rows.length}`, pieces: [] });
      }
      add(rows.at(-1).pieces, { step: parts[i], text, column });
      column += text.length;
    }
  return rows;
}

/** Add a piece to a row; to its last piece, if that is of the same step. */
function add(pieces, piece) {
  const last = pieces.at(-1);
  if (last?.step === piece.step) last.text += piece.text;
  else pieces.push(piece);
}

/** So many rows, those of the step in their middle. */
function windowed(all, size) {
  const [from, to] = ends(all);
  const rows = to - from < size ? all : gathered(all);
  const [first, last] = ends(rows);
  const most = Math.max(0, rows.length - size);
  let start = Math.min(most, Math.max(0, first - ((size - 1 - last + first) >> 1)));
  while (start < first && !rows[start].opens) start += 1;
  return whole(rows, start, Math.min(rows.length, start + size));
}

/** Rows without the beginning of a line whose end is no longer among them. */
function whole(rows, start, stop) {
  let end = stop;
  while (end < rows.length && !rows[end].opens && !rows[end - 1].lit) end -= 1;
  return rows.slice(start, end);
}

/** The first row of the step and its last; the first of all if there is none. */
function ends(rows) {
  const lit = rows.flatMap((row, k) => (row.lit ? [k] : []));
  return [lit[0] ?? 0, lit.at(-1) ?? 0];
}

/** The rows with a sign in place of others between those of the step. */
function gathered(rows) {
  const [first, last] = ends(rows);
  const sign = { opens: true, pieces: [{ step: 0, text: "⋯", column: 0 }] };
  return rows.flatMap((row, k) => {
    const between = k > first && k < last && !row.lit;
    if (!between) return [row];
    return rows[k - 1].lit ? [{ ...sign, key: `gap${k}` }] : [];
  });
}

/** A text in its window. */
function listing({ name, y, list }, { code, rows, words, at }) {
  const { x, width, row } = code;
  const [top, height] = [y + CAPTION, rows[name] * row + 2];
  return [
    label(words[name], x, y + 13, "caption"),
    rect({ class: "band", rx: 4, x, y: top, width, height }),
    list.map((each, k) => listed(name, each, top + 1 + k * row, at, code)),
  ];
}

/** A row: which steps it belongs to, and its text, lit where it belongs to this one. */
function listed(name, { key, opens, pieces }, y, at, { x, letter, row }) {
  const base = y + row - 4;
  const left = ({ column }) => x + MARGIN + column * letter;
  const steps = pieces.map(({ step }) => step).filter(Boolean);
  const numbers = opens ? [...new Set(steps)].sort().join("\u2009") : "";
  const back = (piece, i) =>
    band(`b${name}${key}${i}`, left(piece) - 2, y, width(piece, letter), row);
  const span = (piece) =>
    tag(
      "tspan",
      {
        x: left(piece),
        class: lights(piece, at) && "lit",
        q: SHOWN[piece.step - 1] ?? quantity(piece.text),
      },
      escape(piece.text.trimEnd()),
    );
  return [
    label(numbers, x + 3, base, "of-step"),
    pieces.map((piece, i) => (lights(piece, at) ? back(piece, i) : "")),
    tag(
      "text",
      { key: `${name}${key}`, class: "snippet", y: base },
      pieces.map(span).join(""),
    ),
  ];
}

const width = ({ text }, letter) => text.trimEnd().length * letter + 4;

/** The quantity that a line sets, by the name it begins with: `l = alpha * l + …`. */
function quantity(text) {
  const [, name] = /^(\w+)(?:\[[^\]]*\])? [-+*]?= /.exec(text) ?? [];
  return NAMES[name] ?? null;
}

/** From the step to its lines in each text. */
function ties(texts, { at, steps, code }) {
  const { width, pitch } = steps;
  const from = CAPTION + (at - 0.5) * pitch - 1;
  const middle = (width + code.x) / 2;
  return texts.map(({ name, lit }) => {
    const d = `M${width} ${from}H${middle}V${lit}H${code.x}`;
    return lit ? tag("path", { key: `tie${name}`, class: "tie", d }) : "";
  });
}

// ---- the words ---------------------------------------------------------------------

export function say(_, { at, totals, most, kernel }, words) {
  if (!at) return words.sayStart;
  const [numba, triton] = totals.map((list) => num(list[at - 1], 2));
  const [numbaAll, tritonAll] = kernel.map((x) => num(x, 1));
  const first = COMPILED.filter((_, i) => most[i] === at).map((text) => words[text]);
  const known = { numba, triton, numbaAll, tritonAll, text: first.join(words.and) };
  const more = [first.length ? words.sayMost : "", at === STEPS ? words.sayEnd : ""];
  const [ours, theirs, note] = words.does[at - 1];
  return sentences([ours, theirs, words.sayCost, note, ...more], {
    ...FACTS,
    integers: num(FACTS.integers, 2),
    reads: num(FACTS.reads, 2),
    ...known,
  });
}

export function table(_, { totals, costs, kernel }, words) {
  const two = (list) => list.map((x) => num(x, 2));
  const row = (name, k) => [
    name,
    ...COMPILED.flatMap((text, i) => two([totals[i][k], costs[text][k][0]])),
  ];
  return {
    caption: words.tableCaption,
    head: words.tableHead,
    rows: [
      ...words.steps.map(row),
      [words.all, ...two(kernel.flatMap((all) => [all, 1]))],
    ],
  };
}
