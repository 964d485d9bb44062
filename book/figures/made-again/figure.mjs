// Six queries against six keys, there and back, a tile at a time: what is at hand, what
// is kept, and how far the sums have come.

import { picture } from "livepage/picture.mjs";
import { group, label, rect } from "livepage/shapes.mjs";
import { num, sentences } from "livepage/text.mjs";

const WORDS = ["she", "walked", "along", "the", "river", "bank"];
const [N, ROWS, COLUMNS] = [WORDS.length, 3, 2];
const [DOWN, ALONG] = [N / ROWS, N / COLUMNS];
const TILES = DOWN * ALONG;

// ---- the numbers -------------------------------------------------------------------

export function compute({ scores, keep, step }) {
  const S = WORDS.map((_, i) => scores.slice(i * N, (i + 1) * N));
  const steps = 2 * TILES;
  const at = Math.min(step, steps);
  const there = Math.min(at, TILES);
  const ended = Math.floor(there / ALONG) * ROWS;
  const { first, key, back } = place(at);
  const final = S.map(logsumexp);
  const weigh = (i, j, stop) =>
    weight(S[i][j], i < ended ? final[i] : Math.max(...S[i].slice(0, stop)));
  const tile = range(at ? ROWS : 0).map((r) =>
    range(COLUMNS).map((c) => {
      const [i, j] = [first + r, key + c];
      const from = back ? final[i] : Math.max(...S[i].slice(0, key + COLUMNS));
      return weight(S[i][j], from);
    }),
  );
  const kept = keep === "weights" ? there * ROWS * COLUMNS : ended;
  const held = keep === "weights" ? kept : at && ROWS * COLUMNS;
  const seen = (i, j) => tileNumber(i, j) < there;
  const P = S.map((row, i) => row.map((_, j) => weigh(i, j, key + COLUMNS)));
  return {
    steps,
    lse: final.slice(0, ended),
    tile,
    kept,
    held,
    first,
    key,
    back,
    at,
    P,
    seen,
  };
}

const range = (n) => Array.from({ length: n }, (_, k) => k);
const tileNumber = (i, j) => Math.floor(i / ROWS) * ALONG + Math.floor(j / COLUMNS);
const weight = (s, from) => Math.exp(s - (from === -Infinity ? 0 : from));

/** Where a step's tile begins. On the way back its keys stay, and the queries walk. */
function place(step) {
  const back = step > TILES;
  const at = (step - 1 + TILES) % TILES;
  return back
    ? { back, first: (at % DOWN) * ROWS, key: Math.floor(at / DOWN) * COLUMNS }
    : { back, first: Math.floor(at / ALONG) * ROWS, key: (at % ALONG) * COLUMNS };
}

function logsumexp(row) {
  const m = Math.max(...row);
  if (m === -Infinity) return m;
  return m + Math.log(row.reduce((sum, s) => sum + Math.exp(s - m), 0));
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 302,
  left: 76,
  top: 46,
  w: 50,
  h: 34,
  gap: 14,
  box: 36,
  lse: 62,
  text: 576,
  textTop: 70,
};
const NARROW = {
  width: 320,
  height: 356,
  left: 52,
  top: 40,
  w: 25,
  h: 30,
  gap: 6,
  box: 24,
  lse: 46,
  text: 0,
  textTop: 292,
};

export function draw({ keep }, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const scene = { page, words: view.words, wide: view.wide, keep };
  return picture({ ...page, title: view.title, glide: 500 }, [
    names(numbers, scene),
    cells(numbers, scene),
    beside(numbers, scene),
    below(numbers, scene),
    account(numbers, scene),
  ]);
}

const x = (page, j) => page.left + j * page.w;
const y = (page, i) => page.top + i * page.h;

function names({ at, first, key }, { page, words, wide }) {
  const lit = (on) => (at && on ? " lit" : "");
  const row = (word, i) =>
    label(words.choices[word], page.left - 8, y(page, i) + page.h / 2 + 5, {
      class: `small end${lit(i >= first && i < first + ROWS)}`,
      style: wide ? null : "font-size:11.5px",
    });
  const column = (word, j) =>
    label(
      wide ? words.choices[word] : words.choices[word][0],
      x(page, j) + page.w / 2,
      page.top - 8,
      `small middle${lit(j >= key && j < key + COLUMNS)}`,
    );
  return [
    label(words.weights, 0, wide ? 14 : 12, { class: "caption", q: "p" }),
    ...WORDS.map(row),
    ...WORDS.map(column),
  ];
}

/** The table: a weight is a square, as large as its share, while it is in memory. */
function cells({ P, tile, seen, at, first, key }, { page, keep }) {
  const inTile = (i, j) =>
    at && i >= first && i < first + ROWS && j >= key && j < key + COLUMNS;
  const frame = (i, j) =>
    rect({
      class: "band",
      x: x(page, j) + 1,
      y: y(page, i) + 1,
      width: page.w - 2,
      height: page.h - 2,
    });
  const square = (i, j) => {
    const here = inTile(i, j);
    const whole = keep === "weights";
    const shown = whole ? seen(i, j) : here;
    const p = !shown ? 0 : whole ? P[i][j] : tile[i - first][j - key];
    const side = Math.min(page.w, page.h - 4) * Math.sqrt(Math.min(p, 1));
    return rect({
      class: `weight ${here ? "new" : "old"}`,
      x: x(page, j) + (page.w - side) / 2,
      y: y(page, i) + (page.h - side) / 2,
      width: side,
      height: side,
    });
  };
  const around = rect({
    key: "tile",
    style: `fill:none;stroke:var(--ink);stroke-width:${at ? 2.5 : 0}`,
    x: x(page, key),
    y: y(page, first),
    width: COLUMNS * page.w,
    height: ROWS * page.h,
  });
  const all = (draw) => range(N).flatMap((i) => range(N).map((j) => draw(i, j)));
  return group({ q: "p" }, ...all(frame), ...all(square), around);
}

/** How far a sum has come: a box that fills up. */
function filling(left, top, width, height, share) {
  const full = share >= 1;
  return (
    rect({ class: "band", x: left, y: top, width, height }) +
    rect({
      style: `fill:var(${full ? "--truth" : "--weight-old"})`,
      x: left,
      y: top + height * (1 - share),
      width,
      height: height * share,
    })
  );
}

/** Beside each row: its output, the number it keeps, the slopes of its query. */
function beside({ at, lse }, { page, words, wide, keep }) {
  const one = x(page, N) + page.gap;
  const two = one + page.box + page.gap;
  const three = two + page.lse + page.gap;
  const head = (text, left, width) =>
    label(text, left + width / 2, page.top - 8, {
      class: "small middle",
      style: wide ? null : "font-size:11.5px",
    });
  const row = (i) => {
    const block = Math.floor(i / ROWS);
    const [top, tall] = [y(page, i) + 3, page.h - 6];
    const there = Math.min(1, Math.max(0, at - block * ALONG) / ALONG);
    const past = Math.max(0, at - TILES - block);
    const known = keep === "least" && i < lse.length;
    return [
      filling(one, top, page.box, tall, there),
      rect({
        class: "kept",
        x: two,
        y: top,
        width: page.lse,
        height: tall,
        style: known ? null : "opacity:0",
      }),
      label(
        known ? num(lse[i], 2) : "",
        two + page.lse / 2,
        y(page, i) + page.h / 2 + 5,
        "middle",
      ),
      filling(three, top, page.box, tall, Math.min(1, Math.ceil(past / DOWN) / ALONG)),
    ].join("");
  };
  return [
    head(words.output, one, page.box),
    head(keep === "least" && lse.length ? words.number : "", two, page.lse),
    head(words.queries, three, page.box),
    ...range(N).map(row),
  ];
}

/** Below each key: the slopes of the key and of its value. */
function below({ at }, { page, words }) {
  const top = y(page, N) + 12;
  const share = (j) => {
    const past = at - TILES - Math.floor(j / COLUMNS) * DOWN;
    return Math.min(1, Math.max(0, past / DOWN));
  };
  return [
    label(words.keys, page.left - 8, top + 18, "small end"),
    ...range(N).map((j) => filling(x(page, j) + 3, top, page.w - 6, 26, share(j))),
  ];
}

function account({ at, back, held, kept }, { page, words }) {
  const phase = !at ? "" : back ? words.back : words.forward;
  const lines = [
    [phase, "strong"],
    [words.held.replace("{n}", held), "strong"],
    [words.keptSo.replace("{n}", kept), "small"],
  ];
  return lines.map(([text, look], k) =>
    label(text, page.text, page.textTop + k * 26, look),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say({ keep }, { at, back, steps, held, kept, key }, words) {
  if (at === 0) return words.sayNone;
  const whole = keep === "weights";
  const [one, other] = WORDS.slice(key, key + COLUMNS).map((w) => words.choices[w]);
  const values = { k: back ? at - TILES : at, tiles: TILES, held, kept, one, other };
  const there = whole ? words.sayKeptWhole : words.sayForgotten;
  const through = whole ? words.sayCorrected : words.sayThrough;
  const again = whole ? words.sayFetched : words.sayAgain;
  return sentences(
    [
      back ? words.sayBack : words.sayForward,
      back ? again : there,
      !back && at % ALONG === 0 ? through : "",
      at === steps ? words.sayDone : words.sayHeld,
    ],
    values,
  );
}

export function table(_, { at, kept, held, lse }, words) {
  const known = WORDS.map((word, i) => [
    words.choices[word],
    i < lse.length ? num(lse[i], 4) : "",
  ]);
  return {
    caption: words.tableCaption
      .replace("{step}", at)
      .replace("{held}", held)
      .replace("{kept}", kept),
    head: words.tableHead,
    rows: known,
  };
}
