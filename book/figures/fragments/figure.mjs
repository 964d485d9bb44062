// Fragments: which thread of a warp holds which number of a product of small matrices.

import { picture } from "livepage/picture.mjs";
import { group, label, rect, tag, upright } from "livepage/shapes.mjs";
import { fill } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const COLUMNS = { S: 16, A: 16, B: 8, C: 8 }; // each has 16 rows
const [ROWS, THREADS] = [16, 32];
const count = (n) => Array.from({ length: n }, (_, i) => i);

// NVIDIA's manual: row and column of number i, for a group g and its thread j.
const PLACES = {
  A: (g, j, i) => [g + 8 * ((i >> 1) & 1), 2 * j + (i & 1) + 8 * (i >> 2)],
  B: (g, j, i) => [2 * j + (i & 1) + 8 * (i >> 1), g],
  C: (g, j, i) => [g + 8 * (i >> 1), 2 * j + (i & 1)],
  S: (g, j, i) => {
    const [row, column] = PLACES.C(g, j, i % 4);
    return [row, column + 8 * (i >> 2)]; // two tiles of C, side by side
  },
};
const held = (name, thread) =>
  count((ROWS * COLUMNS[name]) / THREADS).map((i) =>
    PLACES[name](Math.floor(thread / 4), thread % 4, i),
  );

export function compute({ view, thread, number }) {
  const picked = find(number, view);
  const shown = picked ? picked.thread : thread;
  const names = Object.keys(COLUMNS);
  return {
    thread: shown,
    held: Object.fromEntries(names.map((name) => [name, held(name, shown)])),
    picked,
    items: ITEMS[view],
  };
}

/** Thread and slot of a number: "C3,5" is row 3, column 5 of C. */
function find(number, view) {
  const [, name, row, column] = /^([SABC])(\d+),(\d+)$/.exec(number) ?? [];
  const inside = row < ROWS && column < COLUMNS[name];
  if (!inside || (name === "S" && view === "one")) return null;
  const at = { name, row: Number(row), column: Number(column) };
  const [along, across] = name === "B" ? [at.column, at.row] : [at.row, at.column];
  const g = along % 8;
  const thread = 4 * g + Math.floor((across % 8) / 2);
  const own = held(name, thread);
  const slot = own.findIndex(([r, c]) => r === at.row && c === at.column);
  const row_threads = name === "C" ? count(4).map((j) => 4 * g + j) : [];
  return { ...at, key: number, thread, slot, row_threads };
}

const titled = (name, [row, column]) => `${name}[${row}, ${column}]`;
const cells = (name) =>
  count(ROWS * COLUMNS[name]).map((i) => [
    Math.floor(i / COLUMNS[name]),
    i % COLUMNS[name],
  ]);
const listed = (names) => [
  { key: "" },
  ...names.flatMap((name) =>
    cells(name).map((at) => ({ key: name + at, text: titled(name, at) })),
  ),
];
const NAMES = { one: ["A", "B", "C"], next: ["S", "A", "B", "C"] };
const ITEMS = { one: listed(NAMES.one), next: listed(NAMES.next) };

/** A number goes with its thread: the control that changed last decides. */
export function reconcile(asked, before) {
  const picked = find(asked.number, asked.view);
  if (!picked || picked.thread === asked.thread) return asked;
  const moved = before?.number === asked.number && before.thread !== asked.thread;
  return moved ? { ...asked, number: "" } : { ...asked, thread: picked.thread };
}

// ---- the picture -------------------------------------------------------------------

// Columns of A, and of S above it, are `own` wide; those of B and C are `other` wide.
const WIDE = { width: 720, left: 24, own: 26, other: 32, row: 15, gap: 24 };
const NARROW = { width: 320, left: 20, own: 9, other: 18, row: 12, gap: 12 };
const [TOP, BETWEEN] = [34, 44];
const EACH = { A: 2, B: 2, C: 1, S: 1 }; // numbers in a register of 32 bits
const SHOWS = { one: { C: "s" }, next: { S: "s", A: "p", C: "o" } };

export function draw(state, numbers, { wide, words, title, live }) {
  const page = {
    ...(wide ? WIDE : NARROW),
    ...state,
    wide,
    live,
    words: words[state.view],
  };
  const { row, left, own, gap, width, view } = page;
  const below = TOP + ROWS * row + BETWEEN;
  const aside = left + COLUMNS.A * own + gap;
  page.at = { S: [left, TOP], A: [left, below], B: [aside, TOP], C: [aside, below] };
  return picture({ width, height: below + ROWS * row + 2, title }, [
    view === "one" ? registers(numbers, page) : "",
    NAMES[view].map((name) => matrix(name, numbers, page)),
  ]);
}

/** Where numbers stand, from the first of them to the last. */
function box(name, places, { at, own, other, row }) {
  const [x, y] = at[name];
  const width = COLUMNS[name] === 16 ? own : other;
  const [[r, c], [bottom, right]] = [places[0], places[places.length - 1]];
  return {
    x: x + c * width + 0.5,
    y: y + r * row + 0.5,
    width: (right - c + 1) * width - 1,
    height: (bottom - r + 1) * row - 1,
  };
}

const split = (list, size) =>
  count(list.length / size).map((i) => list.slice(size * i, size * (i + 1)));

const center = (text, { x, y, width, height }, look) =>
  label(text, x + width / 2, y + height / 2 + 4.25, look);

function matrix(name, { thread, picked, held: { [name]: own } }, page) {
  const both = page.view === "next" && "SA".includes(name); // a score and its weight
  const lit = (both ? "SA" : name).includes(picked?.name) ? picked : null;
  return group(
    { q: SHOWS[page.view][name], class: `matrix-${name}` },
    caption(name, page),
    ...marks(name, own, lit, page),
    grid(name, page),
    owners(name, thread, lit, page),
    ...inHand(name, own, lit, page),
    name === "S" ? between(page) : "",
    page.live ? target(name, page) : "",
  );
}

function caption(name, { words, at, wide }) {
  const text = (wide ? words.captions : words.short)[name];
  return label(text, at[name][0], at[name][1] - 22, "caption");
}

/** Where the second tile of scores begins. */
function between({ at, own, row }) {
  const [x, y] = at.S;
  return upright(x + 8 * own, y - 2, y + ROWS * row + 2, "tiles");
}

/** The numbers of columns and rows; where there is no room for all, every eighth column,
 *  and the rows that the thread holds, at the left. */
function marks(name, own, lit, page) {
  const { wide, at } = page;
  const look = (to, is) => `small ${to}${is ? " lit" : ""}`;
  const column = (c) => {
    const { x, y, width } = box(name, [[0, c]], page);
    return label(`${c}`, x + width / 2, y - 5, look("middle", lit?.column === c));
  };
  const row = (r) => {
    const y = box(name, [[r, 0]], page).y + page.row / 2 + 4;
    return label(`${r}`, at[name][0] - 4, y, look("end", lit?.row === r));
  };
  const large = COLUMNS[name] === 16;
  const columns = count(COLUMNS[name]).filter((c) => wide || !large || c % 8 === 0);
  const holds = large ? [...new Set(own.map(([r]) => r))] : [];
  return [...columns.map(column), ...(wide ? count(ROWS) : holds).map(row)];
}

/** A box for each number, or for each two neighbours that a thread holds. */
function grid(name, { at, own, other, row, all }) {
  const [x, y] = at[name];
  const [right, down] = [COLUMNS[name], ROWS];
  const pitch = right === 16 ? own : other;
  const [across, along] = !all ? [1, 1] : name === "B" ? [1, 2] : [2, 1];
  const [width, height] = [right * pitch, down * row];
  const columns = count(right / across).map(
    (c) => `M${x + c * across * pitch} ${y}v${height}`,
  );
  const rows = count(down / along).map((r) => `M${x} ${y + r * along * row}h${width}`);
  const edge = `M${x} ${y}h${width}v${height}h-${width}z`;
  return tag("path", { class: "grid", d: [edge, ...columns, ...rows].join("") });
}

/** The numbers of threads: in the part of the row that is lit, and elsewhere if asked. */
function owners(name, thread, lit, page) {
  const two = (each) => (places) => {
    const where = box(name, places, page);
    if (lit?.row_threads.includes(each) && lit.row === places[0][0])
      return rect({ class: "mate", ...where }) + center(each, where, "lit");
    return page.all ? center(each, where, {}) : "";
  };
  const others = count(THREADS).filter((each) => each !== thread);
  const texts = others.flatMap((each) => split(held(name, each), 2).map(two(each)));
  return group({ class: "owners middle" }, ...texts);
}

/** Where a reader can point: at each number. */
const target = (name, page) =>
  rect({
    class: "target",
    "data-pick-grid": name,
    "data-rows": ROWS,
    "data-columns": COLUMNS[name],
    ...box(
      name,
      [
        [0, 0],
        [ROWS - 1, COLUMNS[name] - 1],
      ],
      page,
    ),
  });

/** The registers of the thread in hand, each with its name over the numbers it holds. */
function inHand(name, own, lit, page) {
  const two = name === "S" && !page.wide; // no room for a name: "01" is c0 and c1
  const letter = name === "S" ? "c" : name.toLowerCase();
  const title = (i) => (two ? ["01", "23"][i % 2] : `${letter}${i % 4}`);
  return split(own, two ? 2 : EACH[name]).map((places, i) => {
    const where = box(name, places, page);
    const one = places.find(([r, c]) => r === lit?.row && c === lit.column);
    return group(
      { class: "held" },
      rect({ class: "weight new", ...where }),
      one ? rect({ class: "chosen", ...box(name, [one], page) }) : "",
      center(title(i), where, page.wide ? "middle strong" : "middle"),
    );
  });
}

/** Every register of a thread, with what it holds. */
const filled = (own) =>
  NAMES.one.flatMap((name) =>
    split(own[name], EACH[name]).map((places, i) => ({
      name,
      places,
      title: `${name.toLowerCase()}${i}`,
    })),
  );

/** The registers of the thread, above A; where there is room, those of A stand apart. */
function registers({ thread, held: own, picked }, page) {
  const { wide, words, left, own: pitch } = page;
  const title = fill(wide ? words.holds : words.short.holds, { thread });
  const [tall, aside] = wide ? [39, 204] : [18.5, 0];
  const width = COLUMNS.A * pitch - (wide ? 36 : 28) - aside;
  const corner = (at) => {
    const [column, row] = wide && at >= 4 ? [1, at - 4] : [0, at];
    const [x, y] = [left + 24 + column * aside, TOP + 1 + row * tall];
    return { x, y, width, height: tall - 3 };
  };
  return [
    label(title, wide ? left : 0, TOP - 22, "caption"),
    ...filled(own).map((each, at) => content(each, corner(at), picked, wide)),
  ];
}

/** One register: two numbers of 16 bits, or one of 32. */
function content({ name, places, title }, { x, width: all, ...tall }, picked, wide) {
  const width = all / places.length;
  const part = (place, k) => {
    const where = { x: x + k * width, width, ...tall };
    const key = name + place;
    const is = picked?.key === key;
    const text = wide ? titled(name, place) : place.join(", ");
    return group(
      { "data-pick-one": key },
      rect({ class: is ? "chosen" : "part", ...where }),
      center(text, where, is ? "middle is" : "middle"),
    );
  };
  const called = label(title, x - 5, tall.y + tall.height / 2 + 4.5, "small end");
  return group({ class: `of-${name}` }, called, ...places.map(part));
}

// ---- the words ---------------------------------------------------------------------

export function say({ view }, numbers, words) {
  const { thread, picked } = numbers;
  const g = Math.floor(thread / 4);
  if (!picked) return fill(words[view].say, { thread, j: thread % 4, g, below: g + 8 });
  return fill(words[view].sayOf[picked.name], { thread, ...told(numbers, words) });
}

/** What is said of a picked number: its register, what shares it, who shares its row. */
function told({ picked, held: own }, { halves, tiles }) {
  const { name, row, column, slot, row_threads } = picked;
  return {
    number: titled(name, [row, column]),
    row,
    register: Math.floor(slot / EACH[name]) % 4,
    half: halves[slot % 2],
    other: halves[1 - (slot % 2)],
    partner: titled(name, own[name][slot ^ 1]), // the other half of its register
    tile: tiles[Math.floor(slot / 4)],
    place: `${row}, ${column}`,
    a: Math.floor(slot / 2),
    first: row_threads[0],
    last: row_threads[3],
  };
}

export function table({ view }, { thread, held: own }, words) {
  const { caption, head } = words[view].table;
  const listed = (name, places) =>
    places.map((place) => titled(name, place)).join(", ");
  const pair = (i) => ({
    tile: words.tiles[i >> 1],
    c: 2 * (i % 2),
    d: 2 * (i % 2) + 1,
  });
  const rows = {
    one: () => filled(own).map((each) => [each.title, listed(each.name, each.places)]),
    next: () =>
      split(own.S, 2).map((two, i) => [
        fill(words.pair, pair(i)),
        listed("S", two),
        `a${i}`,
      ]),
  };
  return { caption: fill(caption, { thread }), head, rows: rows[view]() };
}
