// Triton's barriers: each barrier, commit and wait of its attention kernel, deleted alone.

import { LENGTH, LOOP, PTX, ROWS, SOURCE } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const VERDICTS = ["race", "copy", "nothing"];
const NOTHING = VERDICTS.indexOf("nothing");
const place = (line) => line / LENGTH;
const ends = (row) => (row.sides ?? []).map(({ line }) => line).sort((a, b) => a - b);

export function compute({ step }) {
  const at = Math.min(step, ROWS.length);
  const gone = at ? ROWS[at - 1] : null;
  const tried = ROWS.slice(0, at);
  return {
    steps: ROWS.length,
    at,
    gone,
    places: ROWS.map(({ line }) => place(line)),
    loop: LOOP.map(place),
    ends: gone ? ends(gone).map(place) : [],
    tried: VERDICTS.map((_, k) => tried.filter(({ verdict }) => verdict === k).length),
    right: tried.filter(({ verdict, right }) => right && verdict !== NOTHING).length,
  };
}

// ---- the picture -------------------------------------------------------------------

// `ends`: where a line's number ends, its kind and its fault begin, and its numbers end.
const WIDE = {
  width: 720,
  list: { y: 76, columns: 1, pitch: 0, row: 21, ends: [38, 45, 104, 206] },
  code: { x: 226, width: 494, letter: 7.35, row: 16, indent: 2, text: 44, most: 7 },
};
const NARROW = {
  width: 320,
  list: { y: 74, columns: 2, pitch: 164, row: 24, ends: [33, 37, 82, 154] },
  code: { x: 0, width: 320, letter: 6.6, row: 14, indent: 1, text: 38, most: 9 },
};
const [CAPTION, GAP, BAR] = [20, 8, 38];

export function draw(_, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), ...numbers, wide, words };
  const { list, code } = page;
  const rows = ROWS.length / list.columns;
  const top = wide ? list.y : list.y + CAPTION + rows * list.row + GAP;
  const below = top + CAPTION + code.most * code.row + GAP;
  const height = below + CAPTION + SOURCE.length * code.row + 4;
  return picture({ width: page.width, height, title }, [
    group(
      { class: wide ? "" : "slim" },
      map(page),
      heads(page),
      ...ROWS.map((row, k) => entry(row, k, page)),
      panel(words.ptx, top, code.most, excerpt(page), page),
      panel(words.triton, below, SOURCE.length, source(page), page),
    ),
  ]);
}

// ---- the whole text, as a strip ----

/** Where the instructions stand in the PTX, the loop, and both sides of the fault. */
function map({ width, words, places, loop, ends, at, gone }) {
  const x = (share) => 1 + share * (width - 2);
  const [from, to] = loop.map(x);
  const ticks = places.map((share, k) => {
    const look = k + 1 === at ? "deleted" : "upright";
    return upright(x(share), BAR - 2, BAR + 12, `tick ${look}`);
  });
  return [
    label(fill(words.map, { count: LENGTH }), 0, 13, "caption"),
    rect({ class: "text", x: 0, y: BAR, width, height: 10 }),
    rect({ class: "turns", x: from, y: BAR, width: to - from, height: 10 }),
    label(words.loop, (from + to) / 2, BAR + 25, "of-step middle"),
    ...ticks,
    gone?.sides ? arc(...ends.map(x)) : "",
  ].join("");
}

/** From one side of the fault to the other. */
function arc(from, to) {
  const d = `M${from} ${BAR - 3}V${BAR - 12}H${to}V${BAR - 3}`;
  return tag("path", { key: "arc", class: "fault-arc", d });
}

// ---- the list ----

/** Texts where the columns of the list stand. */
const cells = (texts, x, y, ends, looks = []) =>
  texts
    .map((text, i) =>
      label(text, x + ends[i], y, `of-step ${i % 3 ? "" : "end"} ${looks[i] ?? ""}`),
    )
    .join("");

const heads = ({ list: { columns, pitch, y, ends }, words }) =>
  Array.from({ length: columns }, (_, i) =>
    cells(words.heads, i * pitch, y + 14, ends),
  ).join("");

/** An instruction: its line and kind; once it has been deleted, what came of that. */
function entry({ line, kind, loop, verdict, right }, k, { list, words, at }) {
  const { columns, pitch, row, ends } = list;
  const size = ROWS.length / columns;
  const x = Math.floor(k / size) * pitch;
  const y = list.y + CAPTION + (k % size) * row;
  const now = k + 1 === at;
  const box = { rx: 3, x, y, width: ends[3] + 4, height: row - 1 };
  const texts = [line, words.kinds[kind], words.verdicts[verdict], words.right[+right]];
  const fault = verdict === NOTHING ? "" : "bad";
  const looks = ["", now ? "struck" : "", fault, right ? "good" : "bad"];
  return [
    now ? rect({ key: "now", class: "band lit", ...box }) : "",
    group(
      { "data-step": k + 1 },
      rect({ class: "spot", ...box }),
      cells(k < at ? texts : texts.slice(0, 2), x, y + row / 2 + 4, ends, looks),
    ),
    loop ? upright(x + 1.5, y, y + row, "turns") : "",
  ].join("");
}

// ---- the PTX, and the Triton text ----

const FIRST = ROWS.find(({ kind, loop }) => loop && kind === "barrier");

/** The deleted line with its neighbours, and both sides of its fault. */
function excerpt({ words, gone }) {
  return (gone ?? FIRST).lines.map((line) => {
    const side = gone?.sides?.findIndex((each) => each.line === line) ?? -1;
    const note = side < 0 ? "" : access(gone, side, words);
    const look = line && line === gone?.line ? "struck" : "";
    return { number: line || "", text: line ? PTX[line] : "⋯", note, look, lit: note };
  });
}

/** The lines of the source that faults have led to; those of this fault lit. */
function source({ gone }) {
  const sides = (gone?.sides ?? []).map((side) => side.source);
  return SOURCE.map(([number, depth, text]) => {
    const own = number && number === gone?.source;
    const name = own ? `✕ ${number}` : number || "";
    return { number: name, own, depth, text, lit: sides.includes(number) };
  });
}

/** A listing: its caption, its ground, its lines. */
function panel(caption, top, most, lines, { code, wide }) {
  const { x, width, row, indent, letter, text: from } = code;
  let y = top + CAPTION + 1;
  const rows = lines.map(({ number, own, depth = 0, text, note, look, lit }) => {
    const base = y + row - 4;
    const height = note && !wide ? 2 * row : row;
    const back = { class: "band lit", rx: 3, x: x + 2, y, width: width - 4, height };
    const column = depth * indent;
    const left = x + from + column * letter;
    const room = Math.floor((width - from - 4) / letter) - column;
    const [aside, below] = wide ? [x + width - 5, base] : [x + from, base + row - 1];
    y += height;
    return [
      lit ? rect(back) : "",
      label(number, x + from - 6, base, `of-step end ${own ? "bad" : ""}`),
      label(cut(text, room), left, base, `snippet ${look ?? ""}`),
      label(note ?? "", aside, below, `of-step note ${wide ? "end" : ""}`),
    ].join("");
  });
  return [
    label(caption, x, top + 13, "caption"),
    rect({ class: "band", rx: 4, x, y: top + CAPTION, width, height: most * row + 2 }),
    ...rows,
  ].join("");
}

/** A text that fits, or its beginning. */
const cut = (text, room) => (text.length > room ? `${text.slice(0, room - 1)}…` : text);

/** What one side of a fault does: "written by thread 0". */
function access({ sides, who, other, verdict }, side, { does, copies }) {
  if (VERDICTS[verdict] === "copy" && !side) return copies;
  const k = side ? who : other;
  const [one, several] = does[sides[side].writes ? "writes" : "reads"];
  return k === null ? several : fill(one, { k });
}

// ---- the words ---------------------------------------------------------------------

const count = (name) => ROWS.filter(({ kind }) => kind === name).length;

export function say(_, { steps, at, gone, tried, right }, words) {
  const [barriers, commits, waits] = Object.keys(words.kinds).map(count);
  if (!gone) return fill(words.sayStart, { barriers, commits, waits });
  const { line, kind, verdict, byte, sides } = gone;
  const [race, copy, nothing] = tried;
  const found = VERDICTS[verdict];
  const last = at === steps ? words.sayEnd : "";
  const all = [
    words.say[found],
    words.sayWhy[found][kind],
    words.sayNumbers[found],
    last,
  ];
  return sentences(all, {
    ...{ steps, race, copy, nothing, right, faults: race + copy, byte },
    without: fill(words.without[kind], { line }),
    earlier: sides?.[0].line,
    later: sides?.[1].line,
    first: sides && access(gone, 0, words),
    second: sides && access(gone, 1, words),
  });
}

export function table(_, numbers, words) {
  const row = ({ line, kind, loop, verdict, right, ...each }) => [
    line,
    words.kinds[kind],
    loop ? words.yes : words.no,
    words.found[verdict],
    words.right[+right],
    ends(each).join(", ") || "–",
  ];
  return { caption: words.tableCaption, head: words.tableHead, rows: ROWS.map(row) };
}
