// A sum on the number line of a small format. The gaps between its numbers grow with the
// sum, the addend does not: once it is at most half a gap, it is rounded away.

import { BEYOND, BLOCK, FORMATS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { circle, group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped, sentences, show } from "livepage/text.mjs";

import { adder, exponent, gap, rounder } from "../rounding.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ format, addend, order, step }) {
  const form = FORMATS[format];
  const steps = 4 * (form.bits + BEYOND - 1) - 1;
  const [here, term] = [Math.min(step, steps), rounder(form)(addend)];
  const sum = sums[order](term, form);
  const n = count(here);
  const [before, added] = sum.last(n);
  return {
    steps,
    count: n,
    term,
    before,
    added,
    total: sum.of(n),
    gap: Number.isFinite(before) ? gap(before, form) : NaN,
    truth: n * term,
    path: Array.from({ length: here + 1 }, (_, k) => sum.of(count(k))),
  };
}

/** One more each time, then 4, 5, 6, 7 times a power of two. */
function count(step) {
  const [doublings, quarter] = [Math.floor((step + 1) / 4), (step + 1) % 4];
  return doublings ? (4 + quarter) * 2 ** (doublings - 1) : quarter;
}

const both = ([one, other]) => one + other;

// Of each order: the sum `of` n addends, and the `last` addition on the way to it.
const sums = {
  serial(term, form) {
    const add = adder(form);
    const of = (n) => (n ? add(term, n) : 0);
    return { of, last: (n) => [of(n - 1), term] };
  },
  blocks(term, form) {
    const [add, round] = [adder(form), rounder(form)];
    const whole = (blocks) => (blocks ? add(add(term, BLOCK), blocks) : 0);
    const last = (n) => {
      if (n <= BLOCK) return sums.serial(term, form).last(n);
      const blocks = Math.ceil(n / BLOCK) - 1;
      return [whole(blocks), add(term, n - blocks * BLOCK)];
    };
    return { of: (n) => round(both(last(n))), last };
  },
  pairs(term, form) {
    const round = rounder(form);
    const last = (n) => {
      if (n === 1) return [0, term];
      const most = 2 ** Math.ceil(Math.log2(n) - 1);
      const half = of(most);
      return [half, n === 2 * most ? half : of(n - most)];
    };
    const of = (n) => round(both(last(n)));
    return { of, last };
  },
};

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 470,
  left: 8,
  right: 712,
  line: 122,
  low: 424,
  high: 250,
  start: 72,
  end: 668,
};
const NARROW = {
  width: 320,
  height: 478,
  left: 2,
  right: 318,
  line: 126,
  low: 432,
  high: 262,
  start: 58,
  end: 306,
};
const [BEHIND, AHEAD] = [2.6, 5.4]; // so many addends are in sight, to either side
const DIGIT = 9.4; // the width of a bold one
const DENSE = 3.5; // ticks that are closer become a band

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const scene = { ...page, wide, words, form: FORMATS[state.format] };
  return picture({ ...page, title, glide: 350 }, [
    closeUp(state, numbers, scene),
    history(state, numbers, scene),
  ]);
}

/** The last addition, among the numbers that there are. */
function closeUp({ format, addend }, numbers, scene) {
  const { before, added } = numbers;
  const { words, form, left, right, line } = scene;
  const name = fill(words.close, { format: words.choices[format] ?? format });
  const caption = label(name, 0, 16, "caption");
  if (!Number.isFinite(before + added))
    return [caption, label(words.none, left, line, "strong")];
  const per = (right - left) / (BEHIND + AHEAD) / added;
  const near = {
    ...scene,
    short: writer(numbers, addend),
    per,
    x: (value) => left + BEHIND * added * per + (value - before) * per,
    from: Math.max(0, before - BEHIND * added),
    to: Math.min(before + AHEAD * added, form.largest),
  };
  return [
    caption,
    zone(numbers, near),
    ticks(near),
    places(near),
    addition(numbers, near),
  ];
}

/** All that is rounded to the sum. */
function zone({ total }, { form, x, line }) {
  if (!Number.isFinite(total)) return "";
  const below = gap(total * (1 - 2 ** -form.bits), form);
  const [from, to] = [x(total - below / 2), x(total + gap(total, form) / 2)];
  const place = { x: from, width: to - from, y: line - 22, height: 44 };
  return rect({ key: "zone", class: "zone", q: "l", rx: 4, ...place });
}

/** The numbers of the format; from one power of two to the next they lie equally apart. */
function ticks({ form, per, x, from, to, line }) {
  const found = [];
  let top = to;
  for (let e = exponent(to); top > from; e--) {
    const [bottom, step] = [e > form.low ? 2 ** e : 0, gap(2 ** e, form)];
    if (step * per < DENSE) break;
    const first = Math.ceil(Math.max(from, bottom) / step) * step;
    for (let value = first; value < top || value === to; value += step)
      found.push(upright(x(value), line - 10, line + 10, "notch"));
    top = bottom;
  }
  const crowd = { x: x(from), width: x(top) - x(from), y: line - 10, height: 20 };
  return group(
    {},
    top > from ? rect({ class: "crowd", rx: 0, ...crowd }) : "",
    level(line, x(from), x(to), "axis"),
    ...found,
  );
}

/** Round numbers under the line, as many as there is room for. */
function places({ per, x, from, to, line, left, right }) {
  const room = 14 + 8 * short(to).length;
  const stride = 2 ** Math.ceil(Math.log2(room / per));
  const shown = [];
  for (let at = Math.ceil(from / stride) * stride; at <= to; at += stride)
    if (x(at) > left + room / 2 - 8 && x(at) < right - room / 2 + 8)
      shown.push(label(short(at), x(at), line + 66, "small middle"));
  return shown;
}

/** From the sum before, by the addend, to where no number may be; and to the nearest. */
function addition({ before, added, total }, { x, line, words, left, right, short }) {
  const [from, to] = [x(before), x(before + added)];
  const room = DIGIT * short(before).length; // a long number goes on above the arrow
  const lost = total === before;
  const end = Number.isFinite(total) ? x(total) : right;
  const moved = total !== before + added;
  const said = fill(words.rounded, { total: short(total) });
  const half = (DIGIT * said.length) / 2;
  return [
    group(
      { q: "p" },
      tag("path", { key: "arrow", class: "arrow", d: arrow(from, to, line - 34) }),
      label(`+ ${short(added)}`, (from + to) / 2, line - 46, {
        key: "added",
        class: "added middle halo",
      }),
    ),
    upright(to, line - 34, line, { key: "exact", class: "even" }),
    label(`= ${short(before + added)}`, to + 4, line - 70, {
      key: "exactly",
      class: "small",
    }),
    moved &&
      Math.abs(end - to) > 12 &&
      group(
        { key: "rounding", q: "l" },
        tag("path", {
          key: "back",
          class: lost ? "back lost" : "back",
          d: arc(to, end, line + 26),
        }),
      ),
    group(
      { q: "l" },
      label(short(before), Math.max(from - 4, left + room), line - 70, {
        key: "before",
        class: "strong end",
      }),
      circle(from, line, 5, { key: "was", class: "was" }),
      circle(end, line, 7, { key: "sum", class: lost ? "sum lost" : "sum" }),
      label(said, Math.min(end, right - half), line + 44, {
        key: "rounded",
        class: lost ? "wrong-words middle halo" : "strong middle halo",
      }),
    ),
  ].filter(Boolean);
}

const arrow = (from, to, y) => `M${r(from)} ${y}H${r(to)}m-7 -5l7 5l-7 5`;
const arc = (from, to, y) =>
  `M${r(from)} ${y - 14}C${r(from)} ${y} ${r(to)} ${y} ${r(to)} ${y - 14}m-5 6l5 -6l5 6`;
const r = (value) => Math.round(value * 100) / 100;

/** The sum so far against how many were added, both by doublings. */
function history({ format }, numbers, scene) {
  const { words, form, low, high, start, end } = scene;
  const doublings = form.bits + BEYOND;
  const { path, term, total, count: n, truth } = numbers;
  const x = (count) => start + (Math.log2(count) / doublings) * (end - start);
  const most = Math.log2(term) + doublings;
  const y = (sum) =>
    low - ((Math.log2(sum) - Math.log2(term)) / doublings) * (low - high);
  const ends = Number.isFinite(total);
  const lines = path
    .map((sum, k) => [x(count(k)), Number.isFinite(sum) ? y(sum) : high - 10])
    .map(([px, py], k) => `${k ? "L" : "M"}${r(px)} ${r(py)}`)
    .join("");
  const stride = doublings > 16 ? 5 : doublings > 10 ? 4 : 2;
  const powers = Array.from({ length: 20 }, (_, k) => k * stride);
  const across = powers.filter((k) => k <= doublings);
  const upwards = powers.map((k) => k + Math.ceil(Math.log2(term)));
  const limit = Math.log2(form.largest) < most;
  return [
    label(words.sums, 0, high - 24, { key: "sums", class: "caption", q: "l" }),
    label(words.counts, end, low + 40, "caption end"),
    level(low, start, end, "axis"),
    upright(start, high, low, "axis"),
    across.map((k) => label(power(k), x(2 ** k), low + 20, "small middle")),
    across.map((k) => upright(x(2 ** k), low, low + 4, "axis")),
    upwards
      .filter((k) => k <= most)
      .map((k) => label(power(k), start - 8, y(2 ** k) + 4, "small end")),
    tag("path", {
      key: "truth",
      class: "truth-line",
      d: `M${start} ${low}L${end} ${high}`,
    }),
    limit && level(y(form.largest), start, end, { key: "limit", class: "limit" }),
    limit &&
      label(
        fill(words.largest, { largest: short(form.largest) }),
        start + 8,
        y(form.largest) - 7,
        "small halo",
      ),
    tag("path", { class: "so-far", q: "l", d: lines }),
    upright(x(n), low, Math.min(y(truth), low), { key: "now", class: "even" }),
    circle(x(n), ends ? y(total) : high - 10, 6, {
      key: "dot",
      class: numbers.total === truth ? "here" : "here wrong",
    }),
  ].filter(Boolean);
}

const power = (k) => (k < 11 ? short(2 ** k) : `2^{${k}}`);

// ---- the words ---------------------------------------------------------------------

/** Whole numbers whole, others with seven digits, or as many as are asked for. */
function short(x, digits = 7) {
  return grouped(show(x, digits));
}

/** A writer with as many digits as it takes that different numbers look different. */
function writer({ before, added, total, truth, term }, addend) {
  const all = new Set([before, before + added, total, truth, term, addend]);
  const alike = (digits) =>
    new Set([...all].map((x) => short(x, digits))).size < all.size;
  let digits = 7;
  while (digits < 17 && alike(digits)) digits++;
  return (x) => short(x, digits);
}

export function say({ format, addend, order }, numbers, words) {
  const { count: n, term, total, before, added, truth, gap } = numbers;
  const exact = before + added;
  const short = writer(numbers, addend);
  const values = {
    n: grouped(n),
    addend,
    term: short(term),
    format: words.choices[format] ?? format,
    l: short(total),
    before: short(before),
    added: short(added),
    exact: short(exact),
    truth: short(truth),
    gap: short(gap),
  };
  const verdict = !Number.isFinite(total)
    ? Number.isFinite(exact)
      ? words.sayBeyond
      : words.sayGone
    : total === before
      ? 2 * added === gap
        ? words.sayTie
        : words.sayLost
      : total !== exact
        ? words.sayRounded
        : before
          ? words.sayExact
          : words.sayFirst;
  const far = total === truth ? words.sayRight : words.sayWrong;
  const itself = term !== addend && words.sayTerm;
  return sentences(
    [words.say[order], Number.isFinite(total) && far, itself, verdict],
    values,
  );
}

export function table({ format, addend }, { count: n, truth }, words) {
  const form = FORMATS[format];
  const rows = Object.keys(sums).map((order) => {
    const total = sums[order](rounder(form)(addend), form).of(n);
    return [words.choices[order], short(total), short(truth)];
  });
  return {
    caption: fill(words.tableCaption, { n: grouped(n) }),
    head: words.tableHead,
    rows,
  };
}
