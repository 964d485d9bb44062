// Where a row begins, if the offset is kept in 32 bits: it climbs to 2^31, falls below
// zero, and from 2^32 on meets the offsets of other rows.

import { MOST } from "livepage/constants";
import { handle, picture, scale } from "livepage/picture.mjs";
import { circle, group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const HALF = 2 ** 31;

export function compute({ thousands, width }) {
  const row = 1000 * thousands;
  const due = row * width;
  const offset = due | 0; // as 32 bits hold it
  const meets = offset < 0 ? null : offset / width;
  return { row, due, offset, turn: HALF / width, meets };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 60, right: 700, every: 200 };
const NARROW = { width: 320, left: 40, right: 306, every: 500 };
const [HEIGHT, HIGH, LOW, BEYOND] = [312, 52, 262, 26]; // of the picture, of ±2^31

export function draw(_, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const x = scale(0, 1000 * MOST, page.left, page.right);
  const y = scale(-HALF, HALF, LOW, HIGH);
  return picture({ width: page.width, height: HEIGHT, title, glide: 400 }, [
    ground(page, words, y),
    axis(page, words, x),
    teeth(numbers, x, y),
    label(words.inside, page.right - 6, y(0) - 8, "small end halo"),
    label(words.below, page.right - 6, y(0) + 18, "small end halo"),
    here(numbers, page, words, x, y),
  ]);
}

/** Above zero lies the array; below it, nobody's memory, or somebody else's. */
function ground({ left, right }, words, y) {
  const zone = (look, top, bottom) =>
    rect({
      class: look,
      rx: 0,
      x: left,
      width: right - left,
      y: top,
      height: bottom - top,
    });
  return [
    zone("addresses", HIGH, y(0)),
    zone("outside", y(0), LOW),
    label(words.offset, 0, 14, "caption"),
    label("2^{31}", left - 6, HIGH + 5, "small end"),
    label("0", left - 6, y(0) + 5, "small end"),
    label("−2^{31}", left - 6, LOW + 3, "small end"),
  ];
}

function axis({ left, right, every }, words, x) {
  const ticks = Array.from(
    { length: 1 + Math.floor(MOST / every) },
    (_, k) => k * every,
  );
  return [
    level(LOW, left, right, "axis"),
    label(words.row, left, LOW + 42, "caption"),
    ticks.map((k) => [
      upright(x(1000 * k), LOW, LOW + 5, "axis"),
      label(
        grouped(1000 * k),
        x(1000 * k),
        LOW + 21,
        k < MOST ? "small middle" : "small end",
      ),
    ]),
  ];
}

/** The offsets up to the reader's row: a new line at each wrap. The first line, which is
 *  right, goes on a little, dashed. */
function teeth({ row, turn }, x, y) {
  const starts = [0];
  for (let start = turn; start < row; start += 2 * turn) starts.push(start);
  const tooth = (start, k) => {
    const low = k ? -HALF : 0;
    const end = Math.min(row, k ? start + 2 * turn : turn);
    const high = low + ((end - start) / turn) * HALF;
    return `M${x(start)} ${y(low)}L${x(end)} ${y(high)}`;
  };
  const past = x(turn) + ((HIGH - BEYOND) / (y(0) - HIGH)) * (x(turn) - x(0));
  const due = `M${x(turn)} ${HIGH}L${past} ${BEYOND}`;
  return [
    row > turn ? tag("path", { class: "due-line", d: due }) : "",
    tag("path", { class: "offsets", d: starts.map(tooth).join("") }),
  ];
}

/** The reader's row; if another row begins at the same offset, a line leads to it. */
function here({ row, offset, meets }, { left, right }, words, x, y) {
  const at = y(offset);
  const other = meets !== null && meets !== row;
  const name = fill(words.other, { row: grouped(meets ?? 0) });
  return [
    upright(x(row), at, LOW, { key: "down", class: "even" }),
    other &&
      group(
        { key: "met" },
        level(at, x(meets), x(row), "meets"),
        circle(x(meets), at, 5, "kept"),
        label(name, x(meets) + 10, at - 9, "vanishes halo"),
      ),
    circle(x(row), at, 7, {
      key: "here",
      class: `here${meets === row ? "" : " wrong"}`,
    }),
    handle({
      control: "thousands",
      axis: "x",
      x: x(row),
      y: LOW,
      low: left,
      high: right,
    }),
  ].filter(Boolean);
}

// ---- the words ---------------------------------------------------------------------

const whole = (x) => (x < 0 ? `−${grouped(-x)}` : grouped(x));

export function say(_, { row, due, offset, meets }, words) {
  const which = meets === row ? "sayRight" : meets === null ? "sayBelow" : "sayOther";
  return fill(words[which], {
    row: grouped(row),
    due: grouped(due),
    offset: whole(offset),
    other: grouped(meets ?? 0),
  });
}

export function table(_, { row, due, offset }, words) {
  const cells = [row, due, offset].map(whole);
  return { caption: words.offset, head: words.tableHead, rows: [cells] };
}
