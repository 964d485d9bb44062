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
    inside: ROWS.map(({ loop }) => loop),
    ends: gone ? ends(gone).map(place) : [],
    tried: VERDICTS.map((_, k) => tried.filter(({ verdict }) => verdict === k).length),
    right: tried.filter(({ verdict, right }) => right && verdict !== NOTHING).length,
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  list: { y: 76, columns: 1, pitch: 0, row: 19.5, ends: [38, 45, 104, 206] },
  code: { x: 226, width: 494, letter: 7.35, row: 16, indent: 2, text: 44 },
};
const NARROW = {
  width: 320,
  list: { y: 74, columns: 2, pitch: 168, row: 18, ends: [31, 34, 80, 152] },
  code: { x: 0, width: 320, letter: 6.6, row: 14, indent: 1, text: 38 },
};
const [CAPTION, GAP, BAR] = [20, 8, 38];
const EXCERPT = { wide: 7, narrow: 9 }; // rows: the longest excerpt, with its notes

export function draw(_, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), ...numbers, wide, words };
  const { list, code } = page;
  const rows = ROWS.length / list.columns;
  const top = wide ? list.y : list.y + CAPTION + rows * list.row + GAP;
  const below = top + CAPTION + EXCERPT[wide ? "wide" : "narrow"] * code.row + GAP;
  const height = below + CAPTION + SOURCE.length * code.row + 4;
  return picture({ width: page.width, height, title }, [
    group(
      { class: wide ? "" : "slim" },
      map(page),
      ROWS.map((row, k) => entry(row, k, page)).join(""),
      heads(page),
      excerpt(top, page),
      source(below, page),
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

/** Where an entry of the list stands: its corner, and where its words begin or end. */
function spot(k, { columns, pitch, y, row, ends: [line, kind, verdict, right] }) {
  const size = ROWS.length / columns;
  const x = Math.floor(k / size) * pitch;
  const base = y + CAPTION + (k % size) * row;
  const all = { line: x + line, kind: x + kind, verdict: x + verdict, end: x + right };
  return { x, y: base, ...all };
}

/** What the columns are; on a phone, where the words are too long, in one line. */
function heads({ list, words, wide }) {
  const { x, y, verdict, end } = spot(0, list);
  if (!wide) return label(words.list, x, y - 6, "caption");
  return [
    label(words.heads[0], verdict, y - 6, "of-step"),
    label(words.heads[1], end, y - 6, "of-step end"),
  ].join("");
}

/** An instruction: its line and kind; once it has been deleted, what came of that. */
function entry({ line, kind, loop, verdict, right }, k, { list, words, at }) {
  const to = spot(k, list);
  const base = to.y + list.row - 5;
  const now = k + 1 === at;
  const fault = verdict !== NOTHING;
  const width = to.end - to.x + 4;
  const back = { x: to.x, y: to.y, width, height: list.row - 1 };
  const outcome = [
    label(words.verdicts[verdict], to.verdict, base, fault ? "of-step bad" : "of-step"),
    label(words.right[+right], to.end, base, `of-step end ${right ? "good" : "bad"}`),
  ];
  return [
    now ? rect({ key: "now", class: "band lit", rx: 3, ...back }) : "",
    loop ? upright(to.x + 1.5, to.y, to.y + list.row, "turns") : "",
    label(`${line}`, to.line, base, "of-step end"),
    label(words.kinds[kind], to.kind, base, now ? "of-step struck" : "of-step"),
    ...(k < at ? outcome : []),
  ].join("");
}

// ---- the PTX ----

const FIRST = ROWS.find(({ kind, loop }) => loop && kind === "barrier");

/** The deleted line with its neighbours, and both sides of its fault. */
function excerpt(top, page) {
  const { code, wide, words, gone } = page;
  const { lines } = gone ?? FIRST;
  const height = EXCERPT[wide ? "wide" : "narrow"] * code.row + 2;
  let y = top + CAPTION + 1;
  const rows = lines.flatMap((line) => {
    const side = gone?.sides?.findIndex((each) => each.line === line) ?? -1;
    const note = side < 0 ? "" : access(gone, side, words);
    const row = instruction(line, note, y, page);
    y += note && !wide ? 2 * code.row : code.row;
    return row;
  });
  return panel(words.ptx, top, height, code, rows);
}

function instruction(line, note, y, { code, wide, gone }) {
  const base = y + code.row - 4;
  const height = note && !wide ? 2 * code.row : code.row;
  const right = code.x + code.width - 5;
  const look = line === gone?.line ? "snippet struck" : "snippet";
  const [x, below] = wide ? [right, base] : [code.x + code.text, base + code.row - 1];
  return [
    note ? lit(y, height, code) : "",
    label(line || "", code.x + code.text - 6, base, "of-step end"),
    label(line ? cut(PTX[line], code) : "⋯", code.x + code.text, base, look),
    label(note, x, below, `of-step note ${wide ? "end" : ""}`),
  ];
}

const lit = (y, height, { x, width }) =>
  rect({ class: "band lit", rx: 3, x: x + 2, y, width: width - 4, height });

/** A listing: its caption, its ground, its rows. */
const panel = (caption, top, height, { x, width }, rows) =>
  [
    label(caption, x, top + 13, "caption"),
    rect({ class: "band", rx: 4, x, y: top + CAPTION, width, height }),
    ...rows,
  ].join("");

/** A text that fits, or its beginning. */
function cut(text, { width, letter, text: from }, column = 0) {
  const room = Math.floor((width - from - 4) / letter) - column;
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

/** What one side of a fault does: "written by thread 0". */
function access({ sides, who, other, verdict }, side, { does, copies }) {
  if (VERDICTS[verdict] === "copy" && !side) return copies;
  const k = side ? who : other;
  const [one, several] = does[sides[side].writes ? "writes" : "reads"];
  return k === null ? several : fill(one, { k });
}

// ---- the Triton text ----

/** The lines of the source that faults have led to; those of this fault lit. */
function source(top, { code, words, gone }) {
  const sides = (gone?.sides ?? []).map((side) => side.source);
  const rows = SOURCE.flatMap(([number, depth, text], k) => {
    const y = top + CAPTION + 1 + k * code.row;
    const own = number && number === gone?.source;
    const column = depth * code.indent;
    const x = code.x + code.text + column * code.letter;
    return [
      sides.includes(number) ? lit(y, code.row, code) : "",
      label(
        number ? `${own ? "✕ " : ""}${number}` : "",
        code.x + code.text - 6,
        y + code.row - 4,
        `of-step end ${own ? "bad" : ""}`,
      ),
      label(cut(text, code, column), x, y + code.row - 4, "snippet"),
    ];
  });
  const height = SOURCE.length * code.row + 2;
  return panel(words.triton, top, height, code, rows);
}

// ---- the words ---------------------------------------------------------------------

const count = (name) => ROWS.filter(({ kind }) => kind === name).length;

export function say(_, { steps, at, gone, tried, right }, words) {
  const [barriers, commits, waits] = Object.keys(words.kinds).map(count);
  if (!gone) return fill(words.sayStart, { barriers, commits, waits });
  const { line, kind, verdict, byte, sides, right: same } = gone;
  const [race, copy, nothing] = tried;
  const found = VERDICTS[verdict];
  const result = words.sayNumbers[`${found} ${same}`] ?? words.sayOnly[+same];
  const last = at === steps ? words.sayEnd : "";
  return sentences([words.say[found], words.sayWhy[found][kind], result, last], {
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
