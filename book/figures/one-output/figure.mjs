// One number of attention's output: a row of scores meets a column of values. What the
// row keeps, m and ℓ, it keeps once; there is one o for each column.

import { picture } from "livepage/picture.mjs";
import { group, label, rect } from "livepage/shapes.mjs";
import { num, sentences } from "livepage/text.mjs";

const WORDS = ["she", "walked", "along", "the", "river", "bank"];
const ASPECTS = ["water", "moves", "lives"];
const [N, D, BLOCK] = [WORDS.length, ASPECTS.length, 2];

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, values, row, column, step }) {
  const [i, c] = [WORDS.indexOf(row), ASPECTS.indexOf(column)];
  const S = rows(scores, N);
  const V = rows(values, D);
  const trace = [{ m: -Infinity, alpha: 0, l: 0, o: V[0].map(() => 0), stop: 0 }];
  for (let start = 0; start < N; start += BLOCK) {
    trace.push(update(trace[trace.length - 1], S[i], V, start));
  }
  for (const each of trace) each.out = each.o.map((o) => o / (each.l || 1));
  const steps = trace.length - 1;
  const at = Math.min(step, steps);
  return {
    i,
    c,
    S,
    V,
    steps,
    trace,
    now: trace[at],
    before: trace[Math.max(0, at - 1)],
  };
}

const rows = (flat, width) =>
  Array.from({ length: flat.length / width }, (_, k) =>
    flat.slice(k * width, (k + 1) * width),
  );

/** The state of a row after one more block: one m, one ℓ, an o for each column. */
function update(old, scores, V, start) {
  const part = scores.slice(start, start + BLOCK);
  const m = Math.max(old.m, ...part);
  const shift = m === -Infinity ? 0 : m;
  const alpha = Math.exp(old.m - shift);
  const terms = part.map((s) => Math.exp(s - shift));
  const sum = (times) =>
    terms.reduce((total, term, k) => total + times(term, start + k), 0);
  const o = old.o.map((was, c) => alpha * was + sum((term, k) => term * V[k][c]));
  return {
    m,
    alpha,
    l: alpha * old.l + sum((term) => term),
    o,
    stop: start + part.length,
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 444,
  sLeft: 88,
  sPitch: 54,
  vLeft: 478,
  vPitch: 80,
  vTop: 50,
  vTall: 25,
  sTop: 254,
  sTall: 30,
  names: 470,
  box: 66,
  boxTop: 72,
};
const NARROW = {
  width: 320,
  height: 400,
  sLeft: 53,
  sPitch: 22.5,
  vLeft: 194,
  vPitch: 42,
  vTop: 46,
  vTall: 21,
  sTop: 232,
  sTall: 26,
  names: 188,
  box: 42,
  boxTop: 56,
};

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const scene = { page, words: view.words, wide: view.wide, all: state.all };
  return picture({ ...page, title: view.title, glide: 600 }, [
    captions(scene),
    lit(numbers, scene),
    scoreTable(numbers, scene),
    valueTable(numbers, scene),
    output(numbers, scene),
    kept(numbers, scene),
  ]);
}

function captions({ page, words, wide }) {
  const name = (text, q, x, y) => label(text, x, y, { class: "caption", q });
  return [
    name(words.kept, null, 0, 14),
    name(words.values, null, page.vLeft, 14),
    name(words.scores, "s", page.sLeft, page.sTop - (wide ? 30 : 10)),
    name(words.output, "o", page.vLeft, page.sTop - 10),
    wide
      ? WORDS.map((word, k) =>
          label(
            words.choices[word],
            page.sLeft + (k + 0.5) * page.sPitch,
            page.sTop - 8,
            "small middle",
          ),
        )
      : "",
  ];
}

/** The row and the column that meet, and the cell in which they do. */
function lit({ i, c }, { page }) {
  const y = page.sTop + i * page.sTall;
  const x = page.vLeft + c * page.vPitch;
  return [
    rect({
      key: "row",
      class: "band lit",
      x: page.sLeft - 2,
      y,
      width: N * page.sPitch + 4,
      height: page.sTall,
    }),
    rect({
      key: "column",
      class: "band lit",
      x,
      y: page.vTop - 2,
      width: page.vPitch,
      height: N * page.vTall + 4,
    }),
    rect({
      key: "meet",
      class: "band lit",
      x,
      y,
      width: page.vPitch,
      height: page.sTall,
    }),
  ];
}

/** S: a bar for each score; in the chosen row it is dashed until it has been read. */
function scoreTable({ S, i, now }, { page, words, wide }) {
  const finite = S.flat().filter(Number.isFinite);
  const [least, most] = [Math.min(0, ...finite), Math.max(1, ...finite)];
  const bar = (s, k, r) => {
    const room = page.sTall - 7;
    const tall = Number.isFinite(s)
      ? 2 + ((s - least) / (most - least)) * (room - 2)
      : 0;
    const faint = r === i ? "" : "opacity:0.3";
    return rect({
      class: r === i && k >= now.stop ? "score unseen" : "score",
      style: faint,
      x: page.sLeft + k * page.sPitch + page.sPitch * 0.22,
      width: page.sPitch * 0.56,
      y: page.sTop + (r + 1) * page.sTall - 3 - tall,
      height: tall,
    });
  };
  const small = wide ? null : "font-size:11.5px";
  const name = (r) =>
    label(
      words.choices[WORDS[r]],
      page.sLeft - 8,
      page.sTop + (r + 0.5) * page.sTall + 5,
      { class: r === i ? "small end lit" : "small end", style: small },
    );
  const drawn = (row, r) => name(r) + row.map((s, k) => bar(s, k, r)).join("");
  return group({ q: "s" }, ...S.map(drawn));
}

/** V: what each word says, with a column for each aspect. */
function valueTable({ V, c, now }, { page, words, wide }) {
  const middle = (k) => page.vLeft + (k + 0.5) * page.vPitch;
  const y = (k) => page.vTop + (k + 0.5) * page.vTall + 5;
  const head = ASPECTS.map((name, k) =>
    label(words.choices[name], middle(k), page.vTop - 6, {
      class: `small middle${k === c ? " lit" : ""}`,
      style: wide ? null : "font-size:11px",
    }),
  );
  const cell = (value, k, r) =>
    label(
      num(value, Number.isInteger(value) ? 0 : 1),
      middle(k),
      y(r),
      k === c && r < now.stop ? "middle" : "small middle",
    );
  const names = WORDS.map((word, r) =>
    label(words.choices[word], page.names, y(r), "small end"),
  );
  return group(
    {},
    ...head,
    ...names,
    ...V.map((row, r) => row.map((value, k) => cell(value, k, r)).join("")),
  );
}

/** O: the row's answers so far; the other rows are other softmax-dots. */
function output({ i, c, now, steps, trace }, { page, all }) {
  const done = now === trace[steps];
  const cell = (r, k) => {
    const [x, y] = [page.vLeft + k * page.vPitch, page.sTop + r * page.sTall];
    const frame = rect({
      class: "band",
      x: x + 2,
      y: y + 2,
      width: page.vPitch - 4,
      height: page.sTall - 4,
      style: r === i && (all || k === c) ? "opacity:0" : null,
    });
    const text = r === i && now.stop && (all || k === c) ? num(now.out[k], 2) : "";
    const look = {
      key: `out${r}${k}`,
      class: k === c ? "strong middle" : "small middle",
    };
    return frame + label(text, x + page.vPitch / 2, y + page.sTall / 2 + 5, look);
  };
  const cells = Array.from({ length: N * D }, (_, at) =>
    cell(Math.floor(at / D), at % D),
  );
  const meet = `fill:none;stroke:var(${done ? "--truth" : "--ink"});stroke-width:2.5`;
  return group(
    { q: "o" },
    ...cells,
    rect({
      key: "frame",
      style: meet,
      x: page.vLeft + c * page.vPitch + 1,
      y: page.sTop + i * page.sTall + 1,
      width: page.vPitch - 2,
      height: page.sTall - 2,
    }),
  );
}

/** What is kept: m, ℓ and this column's o; or, if asked for, the o of every column. */
function kept({ c, now }, { page, words, wide, all }) {
  const { box, boxTop } = page;
  const step = box + (wide ? 8 : 5);
  const digits = wide ? 3 : 2;
  const next = wide
    ? { x: 2 * step + (all ? 18 : 0), y: boxTop }
    : { x: 0, y: boxTop + 72 };
  const corner = { x: next.x + (all ? c : 0) * step, y: next.y };
  const shown = now.o.map((o, k) => [o, k]).filter(([, k]) => all || k === c);
  const note = (text, x, y) => label(text, x, y + 47, "small");
  return [
    rect({
      key: "kept",
      class: "band lit",
      x: corner.x,
      y: corner.y,
      width: box,
      height: 30,
    }),
    one("m", "m", num(now.m, 1), 0, boxTop, box),
    one("l", "ℓ", num(now.l, digits), step, boxTop, box),
    ...shown.map(([o, k], at) =>
      one(
        "o",
        all ? `o${"₁₂₃"[k]}` : "o",
        num(o, digits),
        next.x + at * step,
        next.y,
        box,
        k === c,
      ),
    ),
    all ? note(words.shared, 0, boxTop) + note(words.perColumn, next.x, next.y) : "",
  ];
}

/** A number in a box, its name above. */
function one(q, name, value, x, y, box, chosen) {
  const frame = chosen ? "fill:none;stroke:var(--ink);stroke-width:2" : null;
  return group(
    { q },
    rect({ class: "band", x, y, width: box, height: 30, style: frame }),
    label(value, x + box / 2, y + 20, q === "m" ? "max middle" : "middle"),
    label(name, x + box / 2, y - 5, "small middle"),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ row, column, step, all }, { now, before, steps, c }, words) {
  const values = {
    row: words.choices[row],
    column: words.choices[column],
    seen: now.stop,
    m: num(now.m, 1),
    l: num(now.l),
    alpha: num(now.alpha),
    o: num(now.o[c]),
    out: num(now.out[c]),
  };
  const change =
    step === 0
      ? words.sayNone
      : before.stop && now.alpha < 1
        ? words.sayRescaled
        : words.saySeen;
  const end = step === 0 ? "" : step < steps ? words.saySoFar : words.sayDone;
  return sentences([words.sayMeet, change, end, all ? words.sayAll : ""], values);
}

export function table(_, { trace }, words) {
  const row = ({ m, alpha, l, o, out }, k) => [
    k + 1,
    num(m, 1),
    num(alpha, 4),
    num(l, 4),
    ...o.map((each) => num(each, 4)),
    ...out.map((each) => num(each)),
  ];
  return {
    caption: words.tableCaption,
    head: words.tableHead,
    rows: trace.slice(1).map(row),
  };
}
