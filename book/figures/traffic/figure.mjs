// What attention holds at once and what it moves: with the table of scores, tile by tile.

import { ROWS, TILE } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { circle, group, label, level, rect, tag } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const STATE_NUMBER = 4; // bytes of a number in a state

export function compute({ n, d, rows, bytes }) {
  const [strip, square] = [n * d * bytes, n * n * bytes]; // q, k, v or o; the table
  const dense = 4 * square + 4 * strip;
  const tiled = (each) => 2 * strip + 2 * strip * Math.ceil(n / each);
  const tile = STATE_NUMBER * (rows * (2 + d) + rows * TILE);
  return {
    strip,
    square,
    tile,
    reads: Math.ceil(n / rows),
    held: [4 * strip + square, 4 * strip + tile],
    moved: [dense, tiled(rows)],
    ratio: tiled(rows) / dense,
    curve: ROWS.map((each) => tiled(each) / dense),
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 372,
  plan: { x: 34, y: 62, side: 210 },
  bars: { x: 376, full: 256, y: 12 },
  curve: { x: 414, right: 716, high: 240, low: 330 },
  name: { x: 366, end: " end", lift: 16 },
};
const NARROW = {
  width: 320,
  height: 672,
  plan: { x: 88, y: 58, side: 128 },
  bars: { x: 1, full: 232, y: 288 },
  curve: { x: 40, right: 316, high: 570, low: 630 },
  name: { x: 0, end: "", lift: -5 },
};

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words, wide };
  return picture({ ...page, title, glide: 450 }, [
    plan(state, numbers, page),
    bars(numbers, page),
    curve(state, numbers, page),
  ]);
}

const STRIP = 14;

/** The loop from above: a block of queries walks past all keys and values. */
function plan({ n, rows }, { reads }, { plan: { x, y, side }, words }) {
  const shown = Math.min(reads, 16);
  const tall = Math.max(side * Math.min(1, rows / n), 5);
  const at = Math.min(y + side - tall, y + Math.floor(shown / 3) * (side / shown));
  const cut = (i) => level(y + (i * side) / shown, x, x + side, "cut");
  const strip = (name, top) => [
    rect({ class: "again", x, y: top, width: side, height: STRIP }),
    label(name, x - 26, top + 11, "small end"),
  ];
  const column = (name, left, q) => [
    rect({ class: "kept", x: left, y, width: STRIP, height: side }),
    rect({ key: name, class: "score", q, x: left, y: at, width: STRIP, height: tall }),
    label(name, left + STRIP / 2, y + side + 17, "small middle"),
  ];
  const middle = x + side / 2;
  return [
    label(words.plan, x - 34, 14, "caption"),
    strip("K", y - 38),
    strip("V", y - 20),
    column("Q", x - STRIP - 6, "s"),
    column("O", x + side + 6, "o"),
    rect({ class: "score unseen", q: "s", x, y, width: side, height: side }),
    Array.from({ length: shown - 1 }, (_, i) => cut(i + 1)),
    rect({ key: "block", class: "band lit key", x, y: at, width: side, height: tall }),
    rect({
      key: "tile",
      class: "score",
      q: "s",
      x: x + side * 0.4,
      y: at,
      width: side / 12,
      height: tall,
    }),
    label(
      fill(reads === 1 ? words.block : words.blocks, { k: grouped(reads) }),
      middle,
      y + side + 42,
      "strong middle",
    ),
    label(words.each, middle, y + side + 62, "small middle"),
  ];
}

/** Four bars on one scale: what is held, what is moved. */
function bars({ strip, square, tile, reads, held, moved }, page) {
  const { x, y, full } = page.bars;
  const scale = full / Math.max(...moved);
  const step = page.wide ? 30 : 42;
  const table = [
    ["s", "score", square],
    ["p", "weight new", square],
  ];
  const twice = table.map(([q, look, size]) => [q, look, 2 * size]);
  const keys = { q: null, look: "again", size: 2 * strip };
  const rows = [
    [
      "heldWith",
      y + 20,
      held[0],
      [
        ["o", "kept", 4 * strip],
        ["s", "score", square],
      ],
    ],
    [
      "heldWithout",
      y + 20 + step,
      held[1],
      [
        ["o", "kept", 4 * strip],
        ["s", "score", tile],
      ],
    ],
    ["movedWith", y + 52 + 2 * step, moved[0], [["o", "kept", 4 * strip], ...twice]],
    ["movedWithout", y + 52 + 3 * step, moved[1], [["o", "kept", 2 * strip]], keys],
  ];
  return [
    label(page.words.held, x, y + 4 - (page.wide ? 0 : 16), "caption"),
    label(page.words.moved, x, y + 36 + 2 * step - (page.wide ? 0 : 16), "caption"),
    rows.map((row) => bar(row, scale, reads, page)),
    legend(y + 60 + 4 * step, page),
  ];
}

function bar([key, y, total, parts, keys], scale, reads, { bars: { x }, name, words }) {
  let at = x;
  const piece = (q, look, size, id) => {
    const width = Math.max(0, size * scale);
    const box = rect({
      key: `${key}${id}`,
      class: look,
      q,
      x: at,
      y,
      width,
      height: 22,
      rx: Math.min(2, width / 2),
    });
    at += width;
    return box;
  };
  const drawn = parts.map(([q, look, size], i) => piece(q, look, size, i));
  if (keys) drawn.push(slices(keys, reads, scale, piece));
  return [
    label(words[key], name.x, y + name.lift, `small${name.end}`),
    group({}, ...drawn),
    label(size(total), Math.max(at, x + 2) + 8, y + 16, {
      key: `${key}-total`,
      class: "strong",
    }),
  ];
}

/** K and V once for every query block: slices, or a solid bar where they are too many. */
function slices({ q, look, size: each }, reads, scale, piece) {
  if (each * scale < 3) return piece(q, look, each * reads, "all");
  return Array.from({ length: reads }, (_, i) => piece(q, look, each, `k${i}`)).join(
    "",
  );
}

function legend(y, { words, name: { x: left }, bars, wide }) {
  const x = wide ? left - 96 : bars.x;
  const looks = ["kept", "score", "weight new", "again"];
  const columns = wide ? [0, 96, 194, 266] : [0, 92, 200];
  const corner = (i) => ({
    x: x + columns[i % columns.length],
    y: y + 20 * Math.floor(i / columns.length),
  });
  return looks.map((look, i) => {
    const at = corner(i);
    return [
      rect({ class: look, x: at.x, y: at.y - 10, width: 11, height: 11 }),
      label(words.legend[i], at.x + 16, at.y, "small"),
    ];
  });
}

/** How much the loop moves, against the table, for every size of block. */
function curve({ rows }, { curve: ratios, ratio }, { curve: at, words }) {
  const { x: left, right, high, low } = at;
  const x = (i) => left + 14 + (i / (ROWS.length - 1)) * (right - left - 28);
  const y = (value) =>
    (low + high) / 2 -
    (Math.log2(Math.min(9, Math.max(1 / 9, value))) / Math.log2(9)) *
      ((low - high) / 2);
  const points = ratios.map(
    (each, i) => `${i ? "L" : "M"}${x(i)} ${y(each).toFixed(1)}`,
  );
  const now = ROWS.indexOf(rows);
  return [
    label(words.curve, left - 38, high - 14, "caption"),
    [
      ["4 ×", 4],
      ["1 ×", 1],
      ["¼ ×", 1 / 4],
    ].map(([text, value]) => label(text, left - 6, y(value) + 4, "small end")),
    level(y(1), left, right, "truth"),
    label(words.level, right, y(1) - 6, "truth end halo"),
    tag("path", { key: "curve", class: "ratio", d: points.join("") }),
    ROWS.map((each, i) =>
      label(
        String(each),
        x(i),
        low + 20,
        i === now ? "small lit middle" : "small middle",
      ),
    ),
    level(low, left, right, "axis"),
    label(words.axis, right, low + 38, "caption end"),
    now < 0
      ? ""
      : circle(x(now), y(ratio), 7, {
          key: "now",
          class: ratio > 1 ? "here wrong" : "here",
        }),
  ];
}

// ---- the words ---------------------------------------------------------------------

const UNITS = ["bytes", "kB", "MB", "GB", "TB", "PB"];

/** 136314880 as "136 MB": three digits. */
function size(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5) [value, unit] = [value / 1000, unit + 1];
  const digits = value >= 99.95 || unit === 0 ? 0 : value >= 9.995 ? 1 : 2;
  return `${num(value, digits)} ${UNITS[unit]}`;
}

export function say({ n, rows }, { reads, held, moved, ratio }, words) {
  const values = {
    n: grouped(n),
    rows,
    reads: grouped(reads),
    held: size(held[1]),
    table: size(held[0]),
    moved: size(moved[1]),
    dense: size(moved[0]),
    times: num(ratio > 1 ? ratio : 1 / ratio, 1),
  };
  const verdict =
    Math.abs(ratio - 1) < 0.05
      ? words.sayLevel
      : ratio > 1
        ? words.sayMore
        : words.sayLess;
  return sentences([words.say, verdict], values);
}

export function table({ n }, { curve: ratios, moved }, words) {
  const rows = ROWS.map((each, i) => [
    each,
    grouped(Math.ceil(n / each)),
    size(ratios[i] * moved[0]),
    num(ratios[i], 3),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
