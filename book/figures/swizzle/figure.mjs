// Swizzle: where the pieces of a tile lie in shared memory, and how eight of them queue.

import { picture } from "livepage/picture.mjs";
import { group, label, rect, upright } from "livepage/shapes.mjs";
import { fill, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const ROWS = 8; // of a square, and as many are drawn
const LINE = 8; // pieces in all 32 banks: each lies in four banks of 4 bytes
const PIECE = 16; // bytes: eight numbers

export function compute({ access, tile, d, at: key }) {
  const across = d / 8; // pieces of a row
  const stride = across + (tile === "padded" ? 1 : 0);
  const groups = count(across).map((k) => together(k, access, across));
  const picked = Math.max(0, count(across).map(String).indexOf(key));
  const pieces = groups.flatMap((group, k) =>
    group.map(([row, piece]) => {
      const mask = tile === "swizzled" ? maskOf(row, across) : 0;
      const place = row * stride + (piece ^ mask);
      return { row, piece, mask, place, key: String(k), wanted: k === picked };
    }),
  );
  const queue = queued(pieces.filter(({ wanted }) => wanted));
  return {
    ...{ across, stride, pieces, queue },
    eight: groups[picked],
    starts: queue.map(({ place }) => PIECE * place),
    wavefronts: Math.max(...queue.map(({ turn }) => turn)) + 1,
    padding: PIECE * ROWS * (stride - across),
    items: groups.map(item),
  };
}

const count = (n) => Array.from({ length: n }, (_, i) => i);

/** The k-th eight pieces: one of each row, or one after the other. [row, piece] */
const together = (k, access, across) =>
  count(LINE).map((i) => {
    const piece = LINE * k + i;
    return access === "square" ? [i, k] : [Math.floor(piece / across), piece % across];
  });

/** The XOR mask of a row; rows that share a line of banks have the same one. */
function maskOf(row, across) {
  const width = Math.min(across, LINE);
  return Math.floor((row * width) / LINE) % width;
}

/** Each piece with its turn at the four banks that it lies in. */
function queued(pieces) {
  const length = Array(LINE).fill(0);
  return pieces.map((each) => ({ ...each, turn: length[each.place % LINE]++ }));
}

/** The first and the last of some pieces, as the picture names them. */
const ends = (pieces) => [pieces[0], pieces.at(-1)].map((piece) => piece.join(","));

/** Eight pieces as the menu names them. */
const item = (pieces, k) => ({ key: String(k), text: ends(pieces).join(" – ") });

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 44 };
const NARROW = { width: 320, left: 38 };
const [TOP, TALL, BETWEEN, THIN] = [44, 272, 40, 17];

export function draw({ tile }, numbers, { wide, words: text, title, waiting }) {
  const page = { ...(wide ? WIDE : NARROW), wide, text, waiting };
  page.thick = TALL / (numbers.across + 1); // as many lines as the padded tile needs
  page.pitch = (page.width - page.left) / LINE;
  page.queue = TOP + TALL + BETWEEN;
  const height = page.queue + ROWS * THIN + 4;
  return picture({ width: page.width, height, title }, [
    heads(numbers, page),
    margin(tile, numbers, page),
    unused(numbers, page),
    numbers.pieces.map((each) => drawn(each, page)),
    queue(numbers, page),
  ]);
}

const left = (place, page) => page.left + (place % LINE) * page.pitch;
const top = (place, page) => TOP + Math.floor(place / LINE) * page.thick;

/** What the tile is, its padding, and which banks stand above each other. */
function heads({ padding }, page) {
  const { wide, text, width, pitch } = page;
  const named = count(LINE).filter((slot) => wide || slot % 2 === 0);
  const name = (slot) =>
    label(
      `${4 * slot}–${4 * slot + 3}`,
      left(slot, page) + pitch / 2,
      TOP - 7,
      "small middle",
    );
  return [
    label(wide ? text.tile : text.tileShort, 0, 14, "caption"),
    label(fill(text.padding, { n: padding }), width, 14, "strong end"),
    wide ? label(text.bank, 0, TOP - 7, "small") : "",
    named.map(name),
  ];
}

/** Which byte a line begins with; of a swizzled line, its XOR mask. */
function margin(tile, { pieces, stride }, page) {
  const masks = [];
  for (const { place, mask } of pieces) masks[Math.floor(place / LINE)] = mask;
  const x = page.left - 5;
  const y = (at) => top(at * LINE, page) + page.thick / 2 + 4.5;
  const name = (at) => (tile === "swizzled" ? `^ ${masks[at]}` : at * LINE * PIECE);
  return count(stride).map((at) => label(name(at), x, y(at), "small end"));
}

/** Padding, at the end of each row. */
const unused = ({ across, stride }, page) =>
  count(stride > across ? ROWS : 0).map((row) => {
    const place = row * stride + across;
    return rect({
      class: "unused",
      x: left(place, page) + 2,
      y: top(place, page) + 2,
      width: page.pitch - 4,
      height: page.thick - 4,
    });
  });

/** A box with the name of a piece in it. */
const box = ({ row, piece }, look, name, width, height) => [
  rect({ class: look, x: 1, y: 1, width: width - 2, height: height - 2 }),
  label(`${row},${piece}`, width / 2, height / 2 + 4.5, `${name} middle`),
];

const at = (x, y) => `translate(${Math.round(x * 100) / 100} ${y})`;

function drawn(each, page) {
  const { row, piece, place, key, wanted } = each;
  return group(
    {
      key: `p${row}-${piece}`,
      "data-pick-one": key,
      transform: at(left(place, page), top(place, page)),
    },
    ...box(
      each,
      wanted ? "score" : "numbers",
      wanted ? "inside" : "small",
      page.pitch,
      page.thick,
    ),
  );
}

/** Under each four banks their queue: a line is a wavefront. */
function queue({ queue: waiting, wavefronts }, page) {
  const { wide, width, text, waiting: hidden } = page;
  const y = (turn) => page.queue + turn * THIN;
  const said = fill(wavefronts === 1 ? text.one : text.many, { k: wavefronts });
  return [
    label(wide ? text.queue : text.queueShort, 0, y(0) - 12, "caption"),
    hidden ? "" : label(said, width, y(0) - 12, "strong end"),
    count(LINE + 1).map((slot) =>
      upright(page.left + slot * page.pitch, y(0), y(ROWS), "bank"),
    ),
    count(ROWS).map((turn) =>
      label(`${turn + 1}`, page.left - 5, y(turn) + 13, "small end"),
    ),
    (hidden ? [] : waiting).map((each, thread) =>
      group(
        { key: `q${thread}`, transform: at(left(each.place, page), y(each.turn)) },
        ...box(each, "weight new", "inside", page.pitch, THIN),
      ),
    ),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say({ access, tile, d }, numbers, text, waiting) {
  const { eight, stride, wavefronts } = numbers;
  const [first, last] = ends(eight);
  const values = { first, last, stride: PIECE * stride, k: wavefronts };
  if (waiting) return fill(text.does[access], values);
  const all = text.says[access][tile];
  return sentences([text.does[access], all[d] ?? all.other, text.ends[tile]], values);
}

/** The wavefronts of every tile, read and written. */
export function table(_, __, text) {
  const rows = [32, 64, 128].flatMap((d) =>
    ["plain", "padded", "swizzled"].map((tile) => {
      const found = (access) => compute({ access, tile, d, at: "0" });
      const counts = ["square", "copy"].map((access) => found(access).wavefronts);
      return [d, text.choices[tile], ...counts, found("copy").padding / ROWS];
    }),
  );
  return { caption: text.tableCaption, head: text.tableHead, rows };
}
