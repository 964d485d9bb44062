// A sum that is rescaled only where a score lies more than a threshold above the reference.

import { COUNT, FORMATS, HIGHEST, SEEDS } from "livepage/constants";
import { generator, handle, picture } from "livepage/picture.mjs";
import { circle, group, label, level, rect, tag } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences, show } from "livepage/text.mjs";

import { rounder } from "../rounding.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ order, threshold }) {
  const scores = stream(order);
  const lazy = fold(scores, threshold);
  const ordinary = fold(scores, 0);
  return {
    scores,
    references: lazy.references,
    sums: lazy.sums,
    weight: lazy.weight,
    peak: Math.max(...lazy.sums),
    rises: ordinary.references.length - 1,
    ordinary: ordinary.sums,
    formats: Object.keys(FORMATS).map((name) => {
      const round = rounder(FORMATS[name]);
      const { sums } = fold(scores, threshold, round);
      return {
        name,
        total: sums.at(-1),
        error: farthest(sums, lazy.sums),
        before: farthest(fold(scores, 0, round).sums, ordinary.sums),
      };
    }),
  };
}

/** How far rounded sums are off at most, relative to those in real arithmetic. */
const farthest = (rounded, exact) =>
  Math.max(...rounded.map((sum, i) => Math.abs(sum / exact[i] - 1)));

function stream(order) {
  const random = generator(SEEDS[order] ?? 0);
  if (order === "normal") return Array.from({ length: COUNT }, () => normal(random));
  const scores = Array.from({ length: COUNT }, (_, i) => i / 4);
  if (order === "rising") return scores;
  for (let i = COUNT - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [scores[i], scores[j]] = [scores[j], scores[i]];
  }
  return scores;
}

function normal(random) {
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += random();
  return 3 * (sum - 6);
}

/** The scores that become the reference, the sum after each score, the largest weight. */
function fold(scores, threshold, round = (x) => x) {
  const [references, sums] = [[], []];
  let [reference, l, weight] = [-Infinity, 0, 0];
  scores.forEach((s, i) => {
    if (s - reference > threshold) {
      l = round(l * round(Math.exp(reference - s)));
      reference = s;
      references.push(i);
    }
    const term = Math.exp(s - reference);
    weight = Math.max(weight, term);
    l = round(l + round(term));
    sums.push(l);
  });
  return { references, sums, weight };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 438,
  left: 40,
  right: 644,
  scores: { low: 196, high: 38 },
  sums: { low: 324, high: 240 },
  rows: 356,
  bar: [84, 576],
};
const NARROW = {
  width: 320,
  height: 438,
  left: 34,
  right: 254,
  scores: { low: 196, high: 38 },
  sums: { low: 324, high: 240 },
  rows: 356,
  bar: [70, 236],
};
const MOST_POWER = 6; // of ten, on the axis of the sums
const FARTHEST_POWER = 39; // of ten, that the bars of the formats have room for

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const { scores } = numbers;
  const least = Math.min(...scores);
  const most = Math.max(...scores, scores[0] + HIGHEST);
  const up = ({ low, high }, share) => low - share * (low - high);
  const scene = {
    page,
    words: view.words,
    x: (i) => page.left + (i / COUNT) * (page.right - page.left),
    s: (score) => up(page.scores, (score - least) / (most - least)),
    l: (sum) => up(page.sums, Math.log10(sum) / MOST_POWER),
  };
  return picture({ ...page, title: view.title, glide: 450 }, [
    stretches(state, numbers, scene),
    sums(numbers, scene),
    rooms(numbers, scene),
  ]);
}

const num1 = (value) => value.toFixed(1);
const caption = (text, q, { high }) =>
  label(text, 0, high - 20, { class: "caption", q });

/** The scores; the reference, and above it the slack in which a score changes nothing. */
function stretches({ threshold }, { scores, references }, scene) {
  const { page, words, x, s } = scene;
  const middle = (i) => num1(x(i + 0.5));
  const dots = (wanted) =>
    scores.map((y, i) => (wanted(i) ? `M${middle(i)} ${num1(s(y))}h0` : "")).join("");
  const reference = scores.map(() => 0);
  let at = -1;
  for (let i = 0; i < COUNT; i++) {
    if (references[at + 1] === i) at++;
    reference[i] = scores[references[at]];
  }
  const top = (y) => Math.max(page.scores.high, s(y + threshold));
  const ends = [...references.slice(1), COUNT];
  const boxes = references.map(
    (i, k) =>
      `M${num1(x(i))} ${num1(s(scores[i]))}V${num1(top(scores[i]))}` +
      `H${num1(x(ends[k]))}V${num1(s(scores[i]))}Z`,
  );
  const stairs = references.map(
    (i, k) => `${k ? "V" : `M${num1(x(0))} `}${num1(s(scores[i]))}H${num1(x(ends[k]))}`,
  );
  return [
    caption(words.scores, "m", page.scores),
    tag("path", { class: "slack", d: boxes.join("") }),
    tag("path", { class: "dots", q: "s", d: dots((i) => scores[i] <= reference[i]) }),
    tag("path", {
      class: "dots over",
      q: "p",
      d: dots((i) => scores[i] > reference[i]),
    }),
    group(
      { q: "m" },
      tag("path", { class: "stairs", d: stairs.join("") }),
      ...(references.length > 40 ? [] : references.slice(1)).map((i, k) =>
        circle(x(i + 0.5), s(scores[i]), 4, { key: `r${k}`, class: "record" }),
      ),
    ),
    weights(
      threshold,
      s(scores[references.at(-1)]),
      top(scores[references.at(-1)]),
      scene,
    ),
    handle({
      control: "threshold",
      axis: "y",
      x: x(0),
      y: s(scores[0] + threshold),
      low: s(scores[0]),
      high: s(scores[0] + HIGHEST),
    }),
  ];
}

/** What a score weighs that equals the last reference, and the most that one can weigh. */
function weights(threshold, one, most, { page, words }) {
  const written = (text, y, key) =>
    label(text, page.right + 8, y + 4, { key, class: "small", q: "p" });
  return [
    label(words.term, page.width, page.scores.high - 20, {
      class: "caption end",
      q: "p",
    }),
    written("1", one, "one"),
    one - most > 16 ? written(short(Math.exp(threshold)), most, "most") : "",
  ];
}

/** The sum as it goes, beside that of a loop which rescales each time. */
function sums({ sums, ordinary }, { page, words, x, l }) {
  const { left, right } = page;
  const [[narrowest, { largest }]] = Object.entries(FORMATS);
  const line = (values) =>
    values.map((v, i) => `${i ? "L" : "M"}${num1(x(i + 0.5))} ${num1(l(v))}`).join("");
  return [
    caption(words.sums, "l", page.sums),
    [0, 2, 4, 6].map((k) =>
      label(k ? `10^{${k}}` : "1", left - 8, l(10 ** k) + 4, "small end"),
    ),
    level(page.sums.low, left, right, "axis"),
    level(l(largest), left, right, "limit"),
    label(narrowest, right + 8, l(largest) - 5, "small"),
    label(grouped(largest), right + 8, l(largest) + 13, "small"),
    group(
      { q: "l" },
      tag("path", { class: "ghost", d: line(ordinary) }),
      tag("path", { class: "so-far", d: line(sums) }),
    ),
  ];
}

/** How much of each format's range the largest sum takes. */
function rooms({ peak, formats }, { page, words }) {
  const [from, to] = page.bar;
  const x = (value) => (Math.log10(value) / FARTHEST_POWER) * (to - from);
  return [
    label(words.rooms, 0, page.rows, { class: "caption", q: "l" }),
    label(words.end, page.width, page.rows, { class: "caption end", q: "l" }),
    formats.map(({ name, total, error }, i) => {
      const y = page.rows + 24 + 24 * i;
      const over = !Number.isFinite(total);
      const bar = (key, look, width) =>
        rect({ key: `${key}${i}`, class: look, x: from, y: y - 7, width, height: 10 });
      return [
        label(name, 0, y + 2, "small"),
        bar("peak", over ? "beyond" : "weight new", Math.max(2, x(peak))),
        bar("room", "room", x(FORMATS[name].largest)),
        label(
          over ? words.over : fill(words.digits, { digits: digits(error) }),
          page.width,
          y + 2,
          over ? "fails end" : "small end",
        ),
      ];
    }),
  ];
}

// ---- the words ---------------------------------------------------------------------

/** Three digits, or all before the point. */
const short = (x) => grouped(show(x, 3));

/** To how many digits something is right. */
const digits = (error) => num(-Math.log10(error), 1);

export function say(_, { references, rises, weight, peak, formats }, words) {
  const k = references.length - 1;
  const left =
    k === rises ? words.sayAll : ([words.sayNone, words.sayOne][k] ?? words.saySome);
  const over = !Number.isFinite(formats[0].total);
  return sentences([left, words.sayPeak, over ? words.sayOver : words.sayFits], {
    k,
    rises,
    w: short(weight),
    peak: short(peak),
    largest: grouped(FORMATS.float16.largest),
  });
}

export function table(_, { formats }, words) {
  const right = (error) => (Number.isFinite(error) ? digits(error) : words.over);
  const rows = formats.map(({ name, error, before }) => [
    name,
    short(FORMATS[name].largest),
    right(error),
    right(before),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
