// Banks: what 32 threads want of a tile, and how they queue for it in shared memory.

import { picture } from "livepage/picture.mjs";
import { group, label, rect, upright } from "livepage/shapes.mjs";
import { fill, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const [LANES, BANKS] = [32, 32]; // threads of a warp; banks of 4 bytes
const GROUP = 8; // rows that eight neighbours read, and the next eight again

export function compute(state) {
  const { at_once, pad, row } = state;
  const begins = Array.from({ length: LANES }, (_, t) => begin(t, state));
  const aligned = begins.every((number) => number % at_once === 0);
  const { served, wavefronts, longest } = aligned
    ? queues(begins, at_once)
    : { served: [], wavefronts: 0, longest: 0 };
  const banks = new Set(begins.flatMap((k) => words(k, at_once).map(bank)));
  return {
    begins,
    aligned,
    served,
    wavefronts,
    longest,
    banks: banks.size,
    parts: at_once,
    stride: row + pad,
  };
}

/** Where a thread begins to read: so many numbers into shared memory, padding too. */
function begin(t, { reads, row, pad, at_once }) {
  const loads = Math.floor(row / at_once);
  const [r, c] = {
    row: [Math.floor(t / loads), (t % loads) * at_once],
    column: [t, 0],
    eight: [t % GROUP, 0],
    same: [0, 0],
  }[reads];
  return r * (row + pad) + c;
}

const words = (first, count) => Array.from({ length: count }, (_, i) => first + i);
const bank = (word) => word % BANKS;

/**
 * Who is served in which wavefront. A wide load is served in parts, a half or a quarter
 * of the warp at a time; what several threads of a part want is handed out once.
 * [first number, its wavefront, the first thread that wants it], part by part.
 */
function queues(begins, at_once) {
  const [served, size] = [[], LANES / at_once];
  let [start, longest] = [0, 0];
  for (let first = 0; first < LANES; first += size) {
    const length = Array(BANKS).fill(0); // of the queue at each bank
    const known = new Set();
    for (let t = first; t < first + size; t++) {
      const k = begins[t];
      if (known.has(k)) continue;
      known.add(k);
      served.push([k, start + length[bank(k)], t]);
      words(k, at_once).forEach((word) => (length[bank(word)] += 1));
    }
    longest = Math.max(longest, ...length);
    start += Math.max(...length);
  }
  return { served, wavefronts: start, longest };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 40, thick: 14, thin: 5, gap: 1.5, marked: 2 };
const NARROW = { width: 320, left: 38, thick: 8, thin: 4, gap: 1, marked: 4 };
const SHOWN = 17; // lines of the tile: eight rows of 64 numbers, however padded
const [TILE_TOP, BETWEEN] = [44, 34];

export function draw(state, numbers, { wide, words: text, title }) {
  const page = { ...(wide ? WIDE : NARROW), wide, text };
  page.pitch = (page.width - page.left) / BANKS;
  page.queue = TILE_TOP + SHOWN * page.thick + BETWEEN;
  const height = page.queue + BANKS * page.thin + 4;
  return picture({ width: page.width, height, title }, [
    heads(page),
    tile(state, numbers, page),
    queue(state, numbers, page),
  ]);
}

const left = (word, page) => page.left + bank(word) * page.pitch;
const top = (word, page) => TILE_TOP + Math.floor(word / BANKS) * page.thick;

/** The numbers of the banks. */
function heads(page) {
  const { wide, text, pitch } = page;
  const name = (b) =>
    label(`${b}`, left(b, page) + pitch / 2, TILE_TOP - 7, "small middle");
  const named = wide ? words(0, BANKS) : [0, 8, 16, 24, 31];
  return [
    label(wide ? text.tile : text.tileShort, 0, 14, "caption"),
    wide ? label(text.bank, 0, TILE_TOP - 7, "small") : "",
    named.map(name),
  ];
}

/** The beginning of the tile: its rows one after the other, padding left out. */
function tile({ row, at_once }, { begins, aligned, stride }, page) {
  const shown = SHOWN * BANKS;
  const rows = words(0, Math.ceil(shown / stride)).map((r) => r * stride);
  const cut = (first) => lines(first, Math.min(first + row, shown));
  const wanted = [...new Set(begins)].filter((k) => k + at_once <= shown);
  const threads = (k) => words(0, LANES).filter((t) => begins[t] === k);
  return [
    rows.map((first, r) => boxes(cut(first), { key: `r${r}`, class: "numbers" }, page)),
    words(0, Math.ceil(SHOWN / page.marked)).map((i) => mark(i * page.marked, page)),
    wanted.map((k) => load(k, threads(k), { at_once, aligned }, page)),
  ];
}

/** Which number a line begins with. */
const mark = (at, page) =>
  label(
    `${at * BANKS}`,
    page.left - 5,
    top(at * BANKS, page) + page.thick / 2 + 4.5,
    "small end",
  );

/** Numbers first … stop − 1, cut where a line of 32 ends: [first, count]. */
function lines(first, stop) {
  if (first >= stop) return [];
  const end = Math.min(stop, (Math.floor(first / BANKS) + 1) * BANKS);
  return [[first, end - first], ...lines(end, stop)];
}

function boxes(cut, { key, ...look }, page) {
  const box = ([first, count], i) =>
    rect({
      key: `${key}-${i}`,
      ...look,
      rx: 1,
      x: left(first, page) + page.gap / 2,
      y: top(first, page) + page.gap / 2,
      width: count * page.pitch - page.gap,
      height: page.thick - page.gap,
    });
  return cut.map(box);
}

/** What a thread reads, with its number, or how many threads want the same. */
function load(k, threads, { at_once, aligned }, page) {
  const key = `t${threads[0]}`;
  const look = { key, class: aligned ? "score" : "score refused" };
  const name = threads.length > 1 ? `${threads.length}×` : `${threads[0]}`;
  const [x, y, width] = [left(k, page), top(k, page) + 11.5, at_once * page.pitch];
  const beside = name.length > 2 && at_once === 1;
  const at = beside ? x + width + 4 : x + width / 2;
  const style = { key: `${key}-name`, class: beside ? "small lit" : "inside middle" };
  return group(
    { key, q: "s" },
    ...boxes(lines(k, k + at_once), look, page),
    page.wide && aligned ? label(name, at, y, style) : "",
  );
}

/** Under each bank its queue: a line is a wavefront. Every second part is paler. */
function queue({ at_once }, { served, wavefronts, aligned, parts }, page) {
  const { wide, width, text, pitch, thin, gap } = page;
  const caption = parts > 1 ? text.queueParts : text.queue;
  const y = (at) => page.queue + at * thin;
  const said = !aligned ? text.refused : wavefronts === 1 ? text.one : text.many;
  const tick = (at) => label(`${at}`, page.left - 5, y(at) + 1, "small end");
  return [
    label(wide ? caption : text.queueShort, 0, y(0) - 12, "caption"),
    label(fill(said, { k: wavefronts }), width, y(0) - 12, "strong end"),
    words(0, BANKS + 1).map((b) =>
      upright(page.left + b * pitch, y(0), y(BANKS), "bank"),
    ),
    [8, 16, 24, 32].map(tick),
    group(
      { q: "s" },
      ...served.map(([k, at, thread]) =>
        rect({
          key: `q${thread}`,
          class: `weight ${(thread * parts) & LANES ? "old" : "new"}`,
          rx: 1,
          x: left(k, page) + gap / 2,
          y: y(at) + 0.5,
          width: at_once * pitch - gap,
          height: thin - 1,
        }),
      ),
    ),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say({ reads, at_once }, numbers, text) {
  const { aligned, wavefronts, longest, banks, parts, stride } = numbers;
  const values = {
    n: at_once,
    bytes: 4 * at_once,
    stride,
    size: LANES / parts,
    parts,
    banks,
    longest,
    k: wavefronts,
  };
  const wide = at_once > 1;
  const what = (wide ? text.sayWide : text.sayOne)[reads];
  if (!aligned) return sentences([what, text.sayRefused], values);
  const ends = longest === 1 ? text.sayFree : text.sayQueue;
  const alone = banks === 1 && longest > 1 ? "single" : reads;
  const end = wide ? (ends[`${reads}Wide`] ?? ends.wide) : (ends[alone] ?? ends.narrow);
  return sentences([what, wide && text.sayParts, end], values);
}

/** The wavefronts of this way to read, with every padding and width. */
export function table(state, _, text) {
  const count = (pad, at_once) => {
    const { aligned, wavefronts } = compute({ ...state, pad, at_once });
    return aligned ? wavefronts : text.never;
  };
  const rows = words(0, 9).map((pad) => [pad, ...[1, 2, 4].map((n) => count(pad, n))]);
  const values = { reads: text.choices[state.reads], row: state.row };
  return { caption: fill(text.tableCaption, values), head: text.tableHead, rows };
}
