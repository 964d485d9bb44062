// Coalescing: how many pieces of memory a warp's numbers lie in, and how other warps
// fill the time that one of them waits.

import { ROUNDS, TICKS, WAIT, WORK } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, level, rect } from "livepage/shapes.mjs";
import { fill, grouped, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const LANES = 32; // threads of a warp
const [WIDTH, PIECE] = [4, 32]; // bytes of a number, of a piece
const MEMORY = 1024; // numbers in the picture

export function compute({ stride, start, warps }) {
  const lanes = Array.from({ length: LANES }, (_, i) => start + i * stride);
  const wanted = [...new Set(lanes)];
  const pieces = [...new Set(wanted.map((k) => Math.floor((k * WIDTH) / PIECE)))];
  const spans = timeline(warps);
  return {
    wanted,
    pieces,
    spans,
    transactions: pieces.length,
    moved: pieces.length * PIECE,
    used: wanted.length * WIDTH,
    share: (wanted.length * WIDTH) / (pieces.length * PIECE),
    busy: spans.reduce((sum, [, from, to]) => sum + to - from, 0) / TICKS,
  };
}

/** When each warp works: [warp, from, to], one row after the other. */
function timeline(warps) {
  const period = Math.max(WORK + WAIT, warps * WORK);
  const span = (warp, round) => {
    const from = warp * WORK + round * period;
    return [warp, from, Math.min(from + WORK, TICKS)];
  };
  return Array.from({ length: ROUNDS }, (_, round) => round)
    .flatMap((round) => Array.from({ length: warps }, (_, warp) => span(warp, round)))
    .filter(([, from]) => from < TICKS);
}

// ---- the picture -------------------------------------------------------------------

const PER_PIECE = PIECE / WIDTH;
const WIDE = { width: 720, across: 32, tall: 26, left: 74, gap: 3 };
const NARROW = { width: 320, across: 16, tall: 17, left: 46, gap: 2 };
const MOST = 10; // as many warps as the control allows
const [MEMORY_TOP, LANE] = [26, 14];

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const rows = MEMORY / PER_PIECE / page.across;
  const below = MEMORY_TOP + rows * (page.tall + 6) + 34;
  const height = below + (MOST + 2) * LANE + 10;
  return picture({ width: page.width, height, title }, [
    memory(numbers, page, words),
    warpsAtWork(state, numbers, { ...page, below }, words),
  ]);
}

/** The memory, in pieces that move as a whole; what the warp wants is filled. */
function memory({ wanted, pieces, transactions, moved }, page, words) {
  const pitch = page.width / page.across;
  const number = (pitch - page.gap) / PER_PIECE;
  const corner = (piece) => ({
    x: (piece % page.across) * pitch,
    y: MEMORY_TOP + Math.floor(piece / page.across) * (page.tall + 6),
  });
  const box = (piece) =>
    rect({
      key: `p${piece}`,
      ...corner(piece),
      rx: 2.5,
      width: pitch - page.gap,
      height: page.tall,
      class: pieces.includes(piece) ? "piece moved" : "piece",
    });
  const cell = (k, i) => {
    const { x, y } = corner(Math.floor(k / PER_PIECE));
    return rect({
      key: `k${i}`,
      class: "score",
      rx: 0.5,
      y: y + 3,
      height: page.tall - 6,
      x: x + (k % PER_PIECE) * number + 0.3,
      width: Math.max(0.8, number - 0.6),
    });
  };
  const count = MEMORY / PER_PIECE;
  return [
    label(words.memory, 0, 14, "caption"),
    label(
      fill(transactions === 1 ? words.one : words.many, {
        k: transactions,
        moved: grouped(moved),
      }),
      page.width - page.gap,
      15,
      "strong end",
    ),
    Array.from({ length: count }, (_, piece) => box(piece)),
    group({ q: "s" }, ...wanted.map(cell)),
  ];
}

/** A lane for each warp, and above them the unit that does the arithmetic. */
function warpsAtWork({ warps }, { spans, busy }, page, words) {
  const { width, left, below } = page;
  const x = (tick) => left + (tick / TICKS) * (width - left - 1);
  const unit = below + 12;
  const y = (warp) => unit + LANE + 10 + warp * LANE;
  const middle = (warp) => y(warp) + LANE / 2 - 1;
  const name = (warp) =>
    label(fill(words.warp, { w: warp + 1 }), 0, y(warp) + 10, "small");
  const work =
    (key, at) =>
    ([warp, from, to]) =>
      rect({
        key: `${key}${warp}-${from}`,
        class: "weight new",
        rx: 1,
        height: LANE - 4,
        x: x(from),
        width: x(to) - x(from) - 1,
        y: at(warp) + 1,
      });
  const lanes = Array.from({ length: warps }, (_, warp) => warp);
  return [
    label(words.waiting, 0, below, "caption"),
    label(
      fill(words.busy, { share: num(100 * busy, 0) }),
      width - 1,
      below,
      "strong end",
    ),
    label(words.unit, 0, unit + 11, "small"),
    rect({ class: "band", x: x(0), width: x(TICKS) - x(0), y: unit - 1, height: LANE }),
    spans.map(work("u", () => unit)),
    lanes.map((warp) => level(middle(warp), x(0), x(TICKS), "waits")),
    lanes.filter((warp) => warp % 2 === 0 || warps < 6).map(name),
    spans.map(work("w", y)),
  ];
}

// ---- the words ---------------------------------------------------------------------

/** The number that thread i reads: "i", "4·i", "31 + i". */
function place({ stride, start }) {
  const run = stride === 1 ? "i" : `${stride}·i`;
  return start ? `${start} + ${run}` : run;
}

export function say({ stride, start, warps }, numbers, words) {
  const { transactions, moved, used, busy } = numbers;
  const values = {
    start,
    warps,
    place: place({ stride, start }),
    k: transactions,
    moved: grouped(moved),
    used,
    share: num(100 * numbers.share, 0),
    busy: num(100 * busy, 0),
  };
  const reads = stride === 0 ? words.saySame : words.sayReads;
  const work = warps === 1 ? words.sayAlone : busy < 1 ? words.sayFew : words.sayHidden;
  const moves = transactions === 1 ? words.sayOne : words.sayMany;
  return sentences([reads, moves, work], values);
}

export function table({ stride, start, warps }, numbers, words) {
  const { transactions, moved, used, busy } = numbers;
  const values = [stride, start, transactions, moved, used, warps, percent(busy)];
  const rows = values.map((value, i) => [words.tableRows[i], value]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
