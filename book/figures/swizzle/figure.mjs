// Swizzle: in which banks the pieces of a tile of float16 lie, and who wants them.

import { picture } from "livepage/picture.mjs";
import { group, label, rect, upright } from "livepage/shapes.mjs";
import { fill, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const [SIDE, BYTES] = [8, 16]; // pieces of a row, and bytes of a piece
const [GROUPS, WIDTH] = [8, 4]; // a piece takes one of eight groups of four banks
const [WORD, BANKS] = [4, 32]; // bytes that a bank serves at once
const upTo = (count) => Array.from({ length: count }, (_, i) => i);

/** Where a piece of a row lies, in pieces from the start of the tile. */
function place({ stored }, r, piece) {
  const pieces = SIDE + (stored === "padded" ? 1 : 0);
  return r * pieces + (stored === "swizzled" ? piece ^ (r % SIDE) : piece);
}

/** The first of the four banks where a piece lies. */
const bank = (at) => ((at * BYTES) / WORD) % BANKS;

export function compute(state) {
  const { reads, which, stored } = state;
  const pairs = upTo(SIDE).map((k) => (reads === "square" ? [k, which] : [which, k]));
  const queue = Array(BANKS).fill(0);
  const wanted = pairs.map(([r, piece]) => {
    const at = place(state, r, piece);
    return { r, piece, at, turn: queue[bank(at)]++ };
  });
  return {
    wanted,
    starts: wanted.map(({ at }) => at * BYTES),
    wavefronts: Math.max(...queue),
    banks: queue.filter(Boolean).length * WIDTH,
    unused: stored === "padded" ? SIDE * BYTES : 0,
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 44, thick: 19, thin: 15 };
const NARROW = { width: 320, left: 36, thick: 17, thin: 13 };
const [TOP, GAP] = [46, 1.5];

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), wide, words };
  page.pitch = (page.width - page.left) / GROUPS;
  page.queue = TOP + (SIDE + 1) * page.thick + 34; // padded rows take a line more
  const height = page.queue + GROUPS * page.thin + 4;
  return picture({ width: page.width, height, title }, [
    heads(page),
    tile(state, numbers, page),
    queue(numbers, page),
  ]);
}

const x = (at, page) => page.left + (at % GROUPS) * page.pitch;
const y = (at, page) => TOP + Math.floor(at / GROUPS) * page.thick;

/** Which four banks a column of the picture is. */
function heads(page) {
  const { wide, words, pitch } = page;
  const name = (i) =>
    label(
      wide ? `${i * WIDTH}–${i * WIDTH + WIDTH - 1}` : `${i * WIDTH}`,
      page.left + (i + 0.5) * pitch,
      TOP - 7,
      "small middle",
    );
  return [
    label(wide ? words.tile : words.tileShort, 0, 14, "caption"),
    label(words.bank, 0, TOP - 7, "small"),
    upTo(GROUPS).map(name),
  ];
}

/** Eight rows of the tile as they lie in memory; a gap is padding. */
function tile(state, { wanted }, page) {
  const lit = new Map(wanted.map(({ at, r, piece }) => [at, `${r}·${piece}`]));
  const all = upTo(SIDE).flatMap((r) =>
    upTo(SIDE).map((piece) => [place(state, r, piece), r, piece]),
  );
  const box = ([at, r, piece]) => {
    const key = `p${r}-${piece}`;
    const shown = lit.has(at);
    return group(
      shown ? { key, q: "s" } : { key },
      rect({
        key: `${key}-box`,
        class: shown ? "score" : "numbers",
        rx: 1,
        x: x(at, page) + GAP / 2,
        y: y(at, page) + GAP / 2,
        width: page.pitch - GAP,
        height: page.thick - GAP,
      }),
      label(
        `${r}·${piece}`,
        x(at, page) + page.pitch / 2,
        y(at, page) + page.thick - 5,
        {
          key: `${key}-name`,
          class: shown ? "inside middle" : "small middle",
        },
      ),
    );
  };
  const ends = SIDE + (state.stored === "padded" ? 1 : 0);
  const starts = upTo(ends).filter((line) => line % (page.wide ? 1 : 2) === 0);
  return [
    all.map(box),
    starts.map((line) =>
      label(
        `${line * GROUPS * BYTES}`,
        page.left - 4,
        TOP + line * page.thick + page.thick - 5,
        "small end",
      ),
    ),
  ];
}

/** Under each four banks the pieces that are wanted of them; a line is a wavefront. */
function queue({ wanted, wavefronts }, page) {
  const { words, thin, pitch, left } = page;
  const top = (turn) => page.queue + turn * thin;
  const said = wavefronts === 1 ? words.one : words.many;
  return [
    label(page.wide ? words.queue : words.queueShort, 0, page.queue - 12, "caption"),
    label(fill(said, { k: wavefronts }), page.width, page.queue - 12, "strong end"),
    upTo(GROUPS + 1).map((i) => upright(left + i * pitch, top(0), top(GROUPS), "bank")),
    upTo(GROUPS).map((i) =>
      label(`${i + 1}`, left - 4, top(i) + thin - 3, "small end"),
    ),
    group(
      { q: "s" },
      ...wanted.map(({ at, turn, r, piece }) =>
        rect({
          key: `q${r}-${piece}`,
          class: "score",
          rx: 1,
          x: x(at, page) + GAP / 2,
          y: top(turn) + 0.5,
          width: pitch - GAP,
          height: thin - 1,
        }),
      ),
    ),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say(state, { wavefronts, banks, unused }, text) {
  const { stored, reads, which } = state;
  const values = { which, k: wavefronts, banks, unused };
  const ends = wavefronts === 1 ? text.sayFree : text.sayQueue;
  return sentences(
    [text.sayReads[reads], text.sayStored[stored], ends, unused && text.sayUnused],
    values,
  );
}

/** The wavefronts of every layout, for both ways to read. */
export function table(state, _, text) {
  const rows = Object.keys(text.sayStored).map((stored) => {
    const each = (reads) => compute({ ...state, stored, reads });
    const [square, line] = [each("square"), each("row")];
    return [text.choices[stored], square.wavefronts, line.wavefronts, square.unused];
  });
  return { caption: text.tableCaption, head: text.tableHead, rows };
}
