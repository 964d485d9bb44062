// Training: the loss of a hundred steps, with Δ and without, and where bank looks meanwhile.

import { HEARD, STARTS, STEPS, VALUES } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num, percent } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ step, delta, rate, start }) {
  const [shown, other] = [delta, !delta].map((uses) =>
    train(STARTS[start - 1], rate, uses),
  );
  return {
    steps: STEPS,
    losses: shown.losses,
    other: other.losses,
    weights: shown.rows[Math.min(step, STEPS)],
  };
}

/** The loss at each step, and each time the weights of the last word. */
function train([firstQ, firstK], rate, usesDelta) {
  let [q, k] = [firstQ, firstK];
  const [losses, rows] = [[], []];
  for (let step = 0; step <= STEPS; step += 1) {
    const p = q.map((query) => softmax(k.map((key) => dot(query, key) / Math.SQRT2)));
    const o = p.map((row) => combine(row, VALUES));
    const dO = o.map((row, i) => row.map((x, c) => x - VALUES[HEARD[i]][c]));
    const dS = p.map((row, i) => {
      const delta = usesDelta ? dot(dO[i], o[i]) : 0;
      return row.map(
        (weight, j) => (weight * (dot(dO[i], VALUES[j]) - delta)) / Math.SQRT2,
      );
    });
    losses.push(dO.reduce((sum, row) => sum + dot(row, row) / 2, 0));
    rows.push(p.at(-1));
    const dK = k.map((_, j) =>
      combine(
        dS.map((row) => row[j]),
        q,
      ),
    );
    const dQ = dS.map((row) => combine(row, k));
    [q, k] = [descend(q, dQ, rate), descend(k, dK, rate)];
  }
  return { losses, rows };
}

const dot = (a, b) => a.reduce((sum, x, c) => sum + x * b[c], 0);
const combine = (row, vectors) =>
  vectors[0].map((_, c) => row.reduce((sum, p, j) => sum + p * vectors[j][c], 0));
const descend = (x, slopes, rate) =>
  x.map((row, i) => row.map((number, c) => number - rate * slopes[i][c]));

function softmax(scores) {
  const m = Math.max(...scores);
  const terms = scores.map((s) => Math.exp(s - m));
  const l = terms.reduce((sum, term) => sum + term, 0);
  return terms.map((term) => term / l);
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  ...{ width: 720, height: 300, left: 34, right: 440, low: 256, high: 34 },
  bars: { x: 560, y: 48, row: 34, long: 116 },
};
const NARROW = {
  ...{ width: 320, height: 452, left: 30, right: 312, low: 216, high: 34 },
  bars: { x: 70, y: 280, row: 27, long: 200 },
};

const LINE = "fill:none;stroke:var(--ink);stroke-width:2.5";

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const most = Math.max(...numbers.losses, ...(view.waiting ? [] : numbers.other));
  const scene = {
    page,
    words: view.words,
    waiting: view.waiting,
    x: scale(0, STEPS, page.left, page.right),
    y: scale(0, Math.ceil(most / 20) * 20, page.low, page.high),
    most: Math.ceil(most / 20) * 20,
  };
  return picture({ ...page, title: view.title, glide: 60 }, [
    axes(scene),
    curves(state, numbers, scene),
    weights(numbers, scene),
  ]);
}

function axes({ page, words, x, y, most }) {
  const { left, right, low, high } = page;
  return [
    label(words.loss, 0, high - 18, "caption"),
    level(low, left, right, "axis"),
    upright(left, high, low, "axis"),
    [0, most / 2, most].map((loss) =>
      label(num(loss, 0), left - 6, y(loss) + 4, "small end"),
    ),
    [0, 50, 100].map((step) => label(`${step}`, x(step), low + 18, "small middle")),
    label(words.step, right, low + 34, "small end"),
  ];
}

/** The chosen run as far as it has come; the other one dashed, from end to end. */
function curves({ step, delta }, { losses, other }, { page, words, x, y, waiting }) {
  const path = (list) =>
    `M${list.map((loss, i) => `${at(x(i))} ${at(y(loss))}`).join("L")}`;
  const now = Math.min(step, STEPS);
  const [mine, theirs] = delta
    ? [words.with, words.without]
    : [words.without, words.with];
  return [
    waiting
      ? ""
      : group(
          {},
          tag("path", { class: "even", fill: "none", d: path(other) }),
          label(theirs, page.right, page.high - 18, "small end"),
          level(
            page.high - 22,
            page.right - 7 * theirs.length - 34,
            page.right - 7 * theirs.length - 6,
            "even",
          ),
        ),
    tag("path", { key: "run", style: LINE, d: path(losses.slice(0, now + 1)) }),
    tag("circle", { key: "now", class: "here", cx: x(now), cy: y(losses[now]), r: 5 }),
    label(
      `${mine}: ${num(losses[now], 2)}`,
      Math.min(page.right - 150, x(now) + 8),
      Math.max(page.high + 8, y(losses[now]) - 10),
      {
        ...{ key: "said", class: "strong" },
      },
    ),
  ];
}

const at = (x) => Math.round(10 * x) / 10;

/** How much bank hears of each word. */
function weights({ weights }, { page, words }) {
  const { x, y, row, long } = page.bars;
  const bar = (p, j) => {
    const top = y + j * row;
    return [
      label(words.sentence[j], x - 8, top + 13, "small end"),
      rect({
        key: `w${j}`,
        class: "weight new",
        x,
        y: top,
        height: row - 14,
        width: Math.max(1, p * long),
      }),
      label(percent(p), x + Math.max(1, p * long) + 6, top + 13, {
        key: `p${j}`,
        class: "small",
      }),
    ].join("");
  };
  return [
    label(words.bank, x - 62, y - 14, { class: "caption", q: "p" }),
    group({ q: "p" }, ...weights.map(bar)),
  ];
}

// ---- the words ---------------------------------------------------------------------

export function say({ step, delta }, { losses, other, weights }, words) {
  const now = Math.min(step, STEPS);
  const most = Math.max(...weights);
  const values = {
    step: now,
    loss: num(losses[now], 2),
    first: num(losses[0], 2),
    other: num(other[now], 2),
    run: delta ? words.with : words.without,
    else: delta ? words.without : words.with,
    word: words.sentence[weights.indexOf(most)],
    share: percent(most),
  };
  return fill(now ? words.sayStep : words.sayStart, values);
}

export function table(_, { losses, other }, words) {
  const steps = [0, 1, 10, 30, 60, STEPS];
  return {
    caption: words.tableCaption,
    head: words.tableHead,
    rows: steps.map((step) => [step, num(losses[step], 2), num(other[step], 2)]),
  };
}
