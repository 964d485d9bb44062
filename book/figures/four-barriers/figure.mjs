// Four barriers: one turn of rung 3. What lies in `kv_tile`, who writes it, who reads it;
// and what happens if a barrier is taken away.

import { DURATIONS, PIECES } from "livepage/constants";
import { fading, picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, upright } from "livepage/shapes.mjs";
import { fill, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const TILE = "kv_tile";

export function compute({ gone, run }) {
  const spans = schedule(gone, DURATIONS[run - 1]);
  const pieces = PIECES.map((piece, k) => ({
    ...piece,
    number: k + 1,
    before: barrier(k),
    open: barrier(k) === gone,
    spans: spans[k],
    holds: held(k),
    ...meeting(k, barrier(k) === gone, spans),
  }));
  const end = Math.max(...spans[spans.length - 1][1]);
  const threads = spans[0][0].length;
  const busy = spans.flatMap(([starts, ends]) => ends.map((x, t) => x - starts[t]));
  const worst = pieces.find(({ collisions }) => collisions.length);
  return {
    pieces,
    spans,
    threads,
    steps: pieces.length,
    waiting: 1 - busy.reduce((sum, x) => sum + x, 0) / (threads * end),
    race: worst ? [worst.collisions[0].name] : [],
    risky: worst ? worst.collisions.reduce((sum, { count }) => sum + count, 0) : 0,
  };
}

/** The barrier before a piece: four in a turn, then the first again. */
const barrier = (k) => `${(k % 4) + 1}`;

/** When each thread begins and ends each piece: after a barrier, all begin together. */
function schedule(gone, durations) {
  let ends = durations[0].map(() => 0);
  return durations.map((took, k) => {
    const opens = Math.max(...ends);
    const starts = barrier(k) === gone ? ends : ends.map(() => opens);
    ends = starts.map((x, t) => x + took[t]);
    return [starts, ends];
  });
}

/** Whose rows lie in the tile once a piece is through: the piece that brought them. */
function held(k) {
  const before = PIECES.slice(0, k + 1).filter(({ brings }) => brings);
  return before[before.length - 1];
}

/** What may go wrong between a piece and the one before it; and whether, in this run,
 *  a thread begins the one while another still does the other. */
function meeting(k, open, spans) {
  const collisions = k && open ? clashes(PIECES[k - 1], PIECES[k]) : [];
  if (!collisions.length) return { collisions, overlap: null };
  const [starts, ends] = [spans[k][0], spans[k - 1][1]];
  const [from, to] = [Math.min(...starts), Math.max(...ends)];
  const overlap =
    from < to
      ? { from, to, early: starts.indexOf(from), late: ends.indexOf(to) }
      : null;
  return { collisions, overlap };
}

/** The arrays in which one thread writes where another reads or writes: in how many
 *  places. A place has a digit; its bits are the threads that touch it. */
function clashes(earlier, later) {
  return earlier.touches.flatMap(([name, how, places]) =>
    later.touches
      .filter(([other, does]) => other === name && (how === "w" || does === "w"))
      .map(([, , others]) => [...places].filter((who, i) => differ(who, others[i])))
      .map((found) => ({ name, count: found.length }))
      .filter(({ count }) => count),
  );
}

/** Whether two places' threads are more than one and the same. */
function differ(who, others) {
  const [a, b] = [parseInt(who, 16), parseInt(others, 16)];
  const both = a | b;
  return Boolean(a && b && both & (both - 1));
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 70, long: true };
const NARROW = { width: 320, left: 44, long: false };
const [NUMBERS, TILE_TOP, TILE_TALL] = [32, 62, 34];
const [TOP, LANE, BAR] = [118, 38, 26];
export function draw(state, numbers, { wide, words, title, was }) {
  const page = wide ? WIDE : NARROW;
  const bottom = TOP + numbers.threads * LANE;
  const x = scale(0, length(state.run), page.left + 2, page.width - 4);
  const scene = { page, words, state, x, bottom, was };
  const done = numbers.pieces.slice(0, state.step);
  return picture({ width: page.width, height: bottom + 12, title, glide: 900 }, [
    legend(page, words),
    lanes(numbers, scene),
    done.map((piece) => danger(piece, scene)),
    numbers.pieces.map((piece) => wall(piece, scene)),
    contents(done, scene),
    done.map((piece, k) => work(piece, done[k + 1], scene)),
  ]);
}

/** How long a run takes with all barriers: that fills the width. */
const length = (run) => Math.max(...schedule("none", DURATIONS[run - 1]).at(-1)[1]);

function legend({ width, long }, words) {
  const sample = (x, look) => rect({ x, y: 2, width: 18, height: 14, class: look });
  return [
    sample(0, "share writes K"),
    label(words.writes, 24, 14, "small"),
    sample(86, "share reads K"),
    label(words.reads, 110, 14, "small"),
    level(9, 160, 180, "waits"),
    label(words.waits, 186, 14, "small"),
    upright(240, 1, 17, "barrier"),
    label(words.barrier, 248, 14, "small"),
    long ? label(words.time, width, 14, "small end") : "",
  ];
}

const middle = (t) => TOP + (t + 0.5) * LANE;

function lanes({ threads }, { page, words }) {
  const name = (t) => (page.long ? fill(words.thread, { t }) : `${t}`);
  return [
    label(TILE, 0, TILE_TOP + TILE_TALL / 2 + 5, "small"),
    Array.from({ length: threads }, (_, t) =>
      label(name(t), 0, middle(t) + 5, "small"),
    ),
  ];
}

/** The barrier before a piece, where it opens; a missing one leaves its number only. */
function wall({ number, before, open, spans: [starts] }, { state, words, x, bottom }) {
  const at = x(Math.min(...starts));
  const coming = number > state.step ? " coming" : "";
  const key = `barrier${number}`;
  const named = label(before, at + 1, NUMBERS + 5, `middle number${coming}`);
  if (!open)
    return group(
      { key },
      upright(at, NUMBERS + 12, bottom + 4, `barrier${coming}`),
      named,
    );
  return group(
    { key, class: "missing" },
    label(fill(words.gone, { k: before }), at + 1, NUMBERS + 5, "middle number"),
  );
}

/** The time in which one thread is in a piece and another still in the one before. */
function danger({ number, overlap }, { x, bottom }) {
  if (!overlap) return "";
  const [from, to] = [x(overlap.from), x(overlap.to)];
  return rect({
    key: `danger${number}`,
    class: "danger",
    x: from,
    width: to - from,
    y: TILE_TOP - 6,
    height: bottom - TILE_TOP + 10,
    rx: 3,
  });
}

/** What lies in the tile: nothing of use, then K's rows, V's in their place, K's again. */
function contents(done, scene) {
  const copies = done.filter(({ brings }) => brings);
  return copies.map((copy, k) =>
    lying(copy, copies[k - 1], copies[k + 1], done, scene),
  );
}

/** The quantity that rows of K or of V are there for. */
const serves = (name) => (name === "K" ? "s" : "o");

/** One tile of rows: while it is written over the one before, and once it is there. */
function lying(copy, before, next, done, { page, words, state, x, was }) {
  const { number, brings, first, last, spans } = copy;
  const until = next ? Math.min(...next.spans[0]) : Math.max(...done.at(-1).spans[1]);
  const [from, full] = [Math.min(...spans[0]), Math.max(...spans[1])];
  const [left, there, right] = [from, full, Math.max(until, full)].map(x);
  const turns = fill(words.turns, { from: before?.brings ?? "?", to: brings });
  const rows = fill(words.rows, { name: brings, first, last });
  const fresh = was && was.step < state.step && number === state.step;
  return group(
    {
      key: `holds${number}`,
      class: `stores ${brings}`,
      q: serves(brings),
      ...fading([0, 0.5], fresh),
    },
    box("arriving", left, there - left, [turns, brings]),
    right - there < 3
      ? ""
      : box("lies", there, right - there, [page.long ? rows : brings, brings]),
  );
}

/** A box in the row of the tile, with the first of the texts that fits. */
function box(look, x, width, texts) {
  const text = texts.find((each) => 7.6 * each.length < width - 4) ?? "";
  return [
    rect({
      class: look,
      x: x + 1,
      width: Math.max(1, width - 2),
      y: TILE_TOP,
      height: TILE_TALL,
      rx: 3,
    }),
    label(
      text,
      x + width / 2,
      TILE_TOP + TILE_TALL / 2 + 5,
      `middle share-name ${look}`,
    ),
  ].join("");
}

/** What each thread does in a piece, and then how long it waits for the others. */
function work(piece, next, scene) {
  const { state, was } = scene;
  const { number, spans } = piece;
  const fresh = was && was.step < state.step && number === state.step;
  return group(
    { key: `piece${number}`, ...fading([0.3, 0.8], fresh) },
    ...spans[0].map((_, t) => share(piece, t, hurt(piece, next, t), scene)),
    ...(next && !next.open ? spans[1].map((end, t) => wait(end, t, next, scene)) : []),
  );
}

/** Whether a thread that reads gets the wrong thing: it has begun before all was
 *  written, or another one writes the next thing before it has done. */
function hurt({ brings, overlap, spans }, next, t) {
  if (brings) return false;
  const early = overlap && spans[0][t] < overlap.to;
  const late = next?.overlap && spans[1][t] > next.overlap.from;
  return Boolean(early || late);
}

function share({ number, brings, holds, spans }, t, wrong, { page, words, x }) {
  const [from, to] = [x(spans[0][t]), x(spans[1][t])];
  const look = brings ? "writes" : "reads";
  const name = `${holds.brings}${wrong ? "?" : ""}`;
  const text = fill(page.long ? words[brings ? "writesIt" : "readsIt"] : "{name}", {
    name,
  });
  return [
    rect({
      key: `share${number}-${t}`,
      class: `share ${look} ${holds.brings}${wrong ? " wrong" : ""}`,
      x: from + 1.5,
      width: to - from - 3,
      y: middle(t) - BAR / 2,
      height: BAR,
      rx: 3,
    }),
    label(text, (from + to) / 2, middle(t) + 5, `middle share-name ${look}`),
  ].join("");
}

/** From the end of a thread's work to where the next barrier opens. */
function wait(end, t, { spans: [starts] }, { x }) {
  const [from, to] = [x(end) + 2, x(Math.min(...starts)) - 2];
  return to - from < 3 ? "" : level(middle(t), from, to, "waits");
}

// ---- the words ---------------------------------------------------------------------

export function say({ gone, step }, { pieces, waiting, race }, words) {
  const piece = pieces[Math.min(step, pieces.length) - 1];
  if (!piece) return words.sayStart;
  const { before, open, collisions, overlap, first, last } = piece;
  const [place] = collisions;
  const values = {
    k: place ? before : gone,
    first,
    last,
    a: overlap?.early,
    b: overlap?.late,
    places: place?.count,
    share: percent(waiting),
    name: race[0],
  };
  const does = place ? words.sayGone[before] : words.sayPiece[piece.number - 1];
  const found = !place ? "" : overlap ? words.sayMet : words.sayLucky;
  const missing = open && !place ? words.sayFirst : "";
  const end = race.length ? words.sayRace : words.sayEnd;
  const verdict = step < pieces.length || place ? "" : end;
  return sentences([missing, does, found, verdict], values);
}

/** The barrier before the piece, and the lines that touch shared memory. */
export function code({ step }, { pieces }, words) {
  const { barrier: line, lines, open, holds } = pieces[Math.max(0, step - 1)];
  const rows = lines.map(([text, how]) => ({
    text,
    q: text.includes(TILE) ? serves(holds.brings) : "p",
    value: how === "w" ? words.writes : words.reads,
  }));
  while (rows.length < 2) rows.push({ text: " ", value: "" });
  const gone = { text: `# ${line}`, fault: true };
  return [{ value: "", ...(open ? gone : { text: line }) }, ...rows];
}

export function table(_, { pieces }, words) {
  const rows = pieces.map(
    ({ before, brings, holds, first, last, collisions, open }) => [
      open ? fill(words.gone, { k: before }) : before,
      fill(brings ? words.writesIt : words.readsIt, { name: holds.brings }),
      fill(words.rows, { name: holds.brings, first: holds.first, last: holds.last }),
      collisions[0]?.count ?? 0,
    ],
  );
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
