// How often the running maximum rises, and with it how often anything is rescaled.

import { SEED } from "livepage/constants";
import { generator, picture } from "livepage/picture.mjs";
import { circle, group, label, level, tag } from "livepage/shapes.mjs";
import { fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ order, n, block, sample }) {
  const counts = Array.from(
    { length: order === "random" ? sample : 1 },
    (_, i) => records(arrival(order, n, i + 1), block).length,
  );
  const scores = arrival(order, n, sample);
  const found = records(scores, block);
  const mean = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  const count = found.length;
  return { scores, records: found, count, counts, mean, expected: expected(n, block) };
}

/** n different scores, 1 … n, in the order they come. */
function arrival(order, n, sample) {
  const scores = Array.from({ length: n }, (_, i) => i + 1);
  if (order === "random") shuffle(scores, generator(sample * SEED + n));
  return order === "descending" ? scores.reverse() : scores;
}

function shuffle(scores, random) {
  for (let i = scores.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [scores[i], scores[j]] = [scores[j], scores[i]];
  }
}

/** The blocks that raise the running maximum: the score that does, where the block ends,
 *  and the new maximum. */
function records(scores, block) {
  const found = [];
  let m = -Infinity;
  for (let start = 0; start < scores.length; start += block) {
    const stop = Math.min(start + block, scores.length);
    let at = -1;
    for (let i = start; i < stop; i++) if (scores[i] > m) [m, at] = [scores[i], i];
    if (at >= 0) found.push({ at, stop, m });
  }
  return found;
}

/** In random order, the largest of e scores is among the last b of them b/e times. */
function expected(n, block) {
  let sum = 0;
  for (let start = 0; start < n; start += block) {
    const stop = Math.min(start + block, n);
    sum += (stop - start) / stop;
  }
  return sum;
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 408,
  left: 46,
  right: 496,
  tries: 520,
  end: 712,
  scores: { low: 176, high: 34 },
  counts: { low: 372, high: 226 },
  notes: true,
};
const NARROW = {
  width: 320,
  height: 400,
  left: 46,
  right: 220,
  tries: 232,
  end: 318,
  scores: { low: 170, high: 34 },
  counts: { low: 360, high: 218 },
  notes: false,
};

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const tall = ({ low, high }) => low - high;
  const most = Math.max(4, 1.15 * Math.max(numbers.expected, ...numbers.counts));
  const scene = {
    page,
    words: view.words,
    x: (i) => page.left + (i / state.n) * (page.right - page.left),
    s: (score) => page.scores.low - (score / state.n) * tall(page.scores),
    c: (count) => page.counts.low - (count / most) * tall(page.counts),
  };
  return picture({ ...page, title: view.title, glide: 450 }, [
    stream(state, numbers, scene),
    counting(state, numbers, scene),
    tries(numbers, scene),
  ]);
}

/** The scores as they come, and the stairs of the running maximum. */
function stream({ n }, { scores, records }, { page, words, x, s }) {
  const middle = (i) => x(i + 0.5).toFixed(1);
  const dot = (score, i) => `M${middle(i)} ${num1(s(score))}h0`;
  const dots = scores.map(dot).join("");
  const stems =
    n > 64
      ? ""
      : scores
          .map((score, i) => `M${middle(i)} ${page.scores.low}V${s(score).toFixed(1)}`)
          .join("");
  const size = n > 512 ? " tiny" : "";
  const climb = ({ at, m }) => ({ at: at + 0.5, to: m });
  const mark = ({ at, m }, i) =>
    circle(x(at + 0.5), s(m), 4.5, { key: `r${i}`, class: "record" });
  return [
    caption(words.scores, "s", page.scores, page),
    group(
      { q: "s" },
      tag("path", { class: "stems", d: stems }),
      tag("path", { class: `dots${size}`, d: dots }),
      level(page.scores.low, page.left, page.right, "axis"),
    ),
    group(
      { q: "m" },
      tag("path", { class: "stairs", d: stairs(records.map(climb), x, s, page.right) }),
      ...(records.length > 40 ? [] : records.map(mark)),
    ),
  ];
}

const caption = (text, q, { high }, { left: x }) =>
  label(text, x, high - 18, { class: "caption", q });

/** A level line that jumps where a record falls. */
function stairs(steps, x, y, right) {
  const jump = ({ at, to }, i) =>
    `${i ? "H" : "M"}${num1(x(at))}${i ? "V" : " "}${num1(y(to))}`;
  return steps.map(jump).join("") + `H${right}`;
}

const num1 = (value) => value.toFixed(1);

/** How many rises so far, against what is expected of a random order. */
function counting({ n, block }, { records, count }, { page, words, x, c }) {
  const { low } = page.counts;
  const climbs = records.map(({ stop }, i) => ({ at: stop - 0.5, to: i + 1 }));
  return [
    caption(words.counts, "alpha", page.counts, page),
    tag("path", { class: "expected", d: harmonic(n, block, x, c) }),
    group(
      { q: "alpha" },
      tag("path", { class: "stairs", d: stairs(climbs, x, c, page.right) }),
    ),
    level(low, page.left, page.right, "axis"),
    label("0", page.left - 6, low + 4, "small end"),
    label(String(count), page.left - 6, c(count) + 5, {
      key: "count",
      class: "max end",
    }),
    level(c(count), page.left, page.right, { key: "level", class: "level" }),
    label("1", x(0.5), low + 20, "small middle"),
    label(String(n), x(n - 0.5), low + 20, "small middle"),
  ];
}

/** The expected count after each block, as a curve of at most 120 pieces. */
function harmonic(n, block, x, c) {
  const stride = Math.max(1, Math.floor(n / block / 120));
  let [sum, path, k] = [0, "", 0];
  for (let start = 0; start < n; start += block, k++) {
    const stop = Math.min(start + block, n);
    sum += (stop - start) / stop;
    if (k % stride && stop < n) continue;
    path += `${path ? "L" : "M"}${num1(x(stop - 0.5))} ${num1(c(sum))}`;
  }
  return path;
}

/** Beside the curve, on its scale: a dot for the count of each order tried so far. */
function tries({ counts, expected }, { page, words, c }) {
  const y = c(expected);
  const row = {};
  const columns = counts.map((count) => (row[count] = (row[count] ?? 0) + 1) - 1);
  const pitch = Math.min(9.5, (page.end - page.tries - 8) / (1 + Math.max(...columns)));
  const dot = (count, i) =>
    circle(page.tries + 8 + columns[i] * pitch, c(count), 4, {
      key: `t${i}`,
      class: i === counts.length - 1 ? "try now" : "try",
    });
  return [
    level(y, page.right, page.end, "expected"),
    label(
      fill(words.expected, { h: num(expected, 2) }),
      page.end,
      page.counts.high - 18,
      "truth end",
    ),
    label(
      fill(page.notes ? words.tries : words.triesShort, { k: counts.length }),
      page.end,
      page.counts.low + 20,
      "small end",
    ),
    group({}, ...counts.map(dot)),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say({ order, n, block }, { count, expected, counts, mean }, words) {
  const values = {
    n,
    count,
    blocks: Math.ceil(n / block),
    kept: count - 1,
    k: counts.length,
    h: num(expected, 2),
    mean: num(mean, 2),
  };
  const old =
    count === 1 ? words.sayNever : count === 2 ? words.sayOnce : words.sayTimes;
  const rise =
    count === 1 ? words.sayFirst : block > 1 ? words.sayBlocks : words.sayScores;
  const compare =
    order !== "random"
      ? words.sayOrder
      : counts.length > 1
        ? words.sayMean
        : words.sayOne;
  return sentences([rise, old, compare], values);
}

export function table(_, { records }, words) {
  const rows = records.map(({ stop, m }, i) => [i + 1, stop, m]);
  const shown = rows.length > 13 ? [...rows.slice(0, 12), rows[rows.length - 1]] : rows;
  return { caption: words.tableCaption, head: words.tableHead, rows: shown };
}
