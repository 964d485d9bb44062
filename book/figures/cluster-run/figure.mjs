// A run on a cluster, from its log: who is at which chunk, where the states are, what a
// dead worker takes with it, and who does that again.

import { LOG, SECONDS, SIZES, WORKERS } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const { chunks: CHUNKS, fan: FAN, read: READ, state: STATE } = SIZES;
const [RUNNING, HELD, MERGED, LOST] = [0, 1, 2, 3];
const GROUPS = Math.ceil(CHUNKS / FAN);

export function compute({ run, t }) {
  const now = 1000 * t;
  const { folds, merges, sent, passed, last, told, end } = RUNS[run];
  const begun = folds.filter(({ start }) => start <= now);
  const status = begun.map((fold) => become(fold, now));
  const finished = begun.filter(({ cut, stop }) => !cut && stop <= now);
  const latest = new Map(begun.map((fold, i) => [fold.number, [fold, status[i]]]));
  const travelled = [...sent, ...passed].filter(({ stop }) => stop <= now);
  return {
    now: Math.min(now, end),
    begun,
    status,
    folds: begun.map(({ number, worker }, i) => [number, worker, status[i]]),
    chunks: range(CHUNKS).map((k) => {
      const [fold, how = null] = latest.get(k) ?? [];
      return [how, how === HELD ? places(fold, now) : ""];
    }),
    nodes: range(GROUPS).map((g) => {
      const made = lastMade(merges, g, now);
      return made && now < last.stop ? places(made, now) : "";
    }),
    counts: [finished.length, begun.filter(({ again }) => again).length],
    megabytes: [(finished.length * READ) / 1e6, (travelled.length * STATE) / 1e6],
    told: told.filter(({ at }) => at <= now).length,
    over: now >= end,
  };
}

/** The latest merge of a group, if there has been one. */
const lastMade = (merges, g, now) =>
  merges.filter(({ number, stop }) => number === g && stop <= now).pop();
const range = (count) => Array.from({ length: count }, (_, k) => k);

/** The log as events by kind, each with what it leads to: when its state goes, and how. */
function read(log) {
  const events = [...log.code].map((code, i) => ({
    code,
    cut: code === "u", // never finished
    worker: log.worker[i],
    from: log.from[i],
    number: log.number[i],
    start: log.start[i],
    stop: log.stop[i],
  }));
  const of = (codes) => events.filter(({ code }) => codes.includes(code));
  const run = { folds: of("fu"), merges: of("m"), sent: of("s"), passed: of("p") };
  [run.last, run.death, run.joined] = ["l", "d", "j"].map((code) => of(code)[0]);
  run.end = of("e")[0].stop;
  for (const merge of run.merges) follow(merge, run.merges, run.passed, run);
  for (const fold of run.folds) {
    follow(fold, run.folds, run.sent, run);
    fold.taken = run.merges.find(
      ({ number, start }) =>
        number === Math.floor(fold.number / FAN) &&
        fold.stop <= start &&
        start < fold.gone,
    );
  }
  return { ...run, told: toTell(run) };
}

/** Who has a result, from when until when; after that it is gone. */
function follow(one, all, copies, { death, last }) {
  const same = ({ number }) => number === one.number;
  const others = all.filter(same);
  const next = others[others.indexOf(one) + 1]?.start ?? Infinity;
  const until = ({ worker, stop }) =>
    worker === death?.worker && stop <= death.start ? death.start : Infinity;
  const own = copies.filter(
    (copy) => same(copy) && one.stop <= copy.stop && copy.stop < next,
  );
  one.again = others[0] !== one;
  one.copies = own;
  one.at = [one, ...own].map((each) => ({
    worker: each.worker,
    from: each.stop,
    until: until(each),
  }));
  one.gone = Math.max(...one.at.map((each) => each.until));
  if (one.code === "m" && last.stop <= one.gone) one.gone = Infinity;
}

/** What has become of a fold at a moment. */
function become({ cut, stop, taken, gone }, now) {
  if (now < stop) return RUNNING;
  if (cut) return LOST;
  if (taken && taken.stop <= now) return now < taken.gone ? MERGED : LOST;
  return now < gone ? HELD : LOST;
}

/** The workers that have a state at a moment, as a text of letters. */
const places = ({ at }, now) =>
  [
    ...new Set(
      at
        .filter(({ from, until }) => from <= now && now < until)
        .map(({ worker }) => worker),
    ),
  ]
    .sort()
    .join("");

/** What a sentence tells of, in order. */
function toTell({ folds, merges, last, death, joined }) {
  const first = folds.find(({ again }) => again);
  return [
    ...merges.map((merge) => ({ at: merge.stop, what: "merge", merge })),
    { at: last.stop, what: "answer" },
    ...(death
      ? [
          { at: death.start, what: "death" },
          { at: first.start, what: "again" },
          { at: joined.start, what: "joined" },
        ]
      : []),
  ].sort((a, b) => a.at - b.at);
}

const RUNS = Object.fromEntries(
  Object.entries(LOG).map(([name, log]) => [name, read(log)]),
);

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 468,
  tree: {
    left: 3,
    pitch: 29,
    gap: 9,
    root: 24,
    nodes: 58,
    leaves: 94,
    tall: 28,
    box: 96,
  },
  lanes: { left: 26, right: 712, top: 226, tall: 34, step: 54 },
  caption: 203,
  account: { y: 424, step: 184, across: 4 },
};
const NARROW = {
  width: 320,
  height: 526,
  tree: {
    left: 2,
    pitch: 12.9,
    gap: 3,
    root: 24,
    nodes: 58,
    leaves: 94,
    tall: 24,
    box: 72,
  },
  lanes: { left: 18, right: 314, top: 252, tall: 28, step: 46 },
  caption: 224,
  account: { y: 430, step: 164, across: 2 },
};
const LOOKS = ["running", "held", "merged", "lost"];

export function draw({ run }, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const { left, right } = page.lanes;
  const x = scale(0, 1000 * SECONDS, left, right);
  const scene = { ...page, ...numbers, x, wide, words, run: RUNS[run] };
  return picture({ ...page, title }, [
    tree(scene),
    legend(scene),
    lanes(scene),
    counters(scene),
  ]);
}

/** A box in one of the looks; `again` underlines it. */
function box(x, y, width, height, look, { again = false, text = "" } = {}) {
  return [
    rect({ class: `cell ${look}`, x, y, width, height }),
    again && width > 3
      ? rect({ class: "redone", x, y: y + height - 4, width, height: 4 })
      : "",
    look === "lost" && width > 6
      ? tag("path", {
          class: "slash",
          d: `M${r(x)} ${y + height}l${r(width)} ${-height}`,
        })
      : "",
    text === ""
      ? ""
      : label(text, x + width / 2, y + height / 2 + 4.5, `on ${look} middle`),
  ];
}

const r = (number) => number.toFixed(1);

/** Who has a state: its maker first, and where there is room whoever has a copy. */
function who(made, where, wide) {
  const others = where.replace(made?.worker, "");
  const first = others === where ? "" : made.worker;
  return (first + others).slice(0, wide ? 2 : 1);
}

/** Chunks in the order of their keys, and over them the merges, as it stands now. */
function tree(scene) {
  const { tree: place, words, chunks, nodes, run, now, width } = scene;
  const { left, pitch, gap, root } = place;
  const at = (k) => left + k * pitch + Math.floor(k / FAN) * gap;
  const spans = nodes.map((_, g) => {
    const { first, last } = ends({ number: g });
    return [at(first), at(last) + pitch];
  });
  const middles = spans.map(([from, to]) => (from + to) / 2);
  const look = now >= run.last.stop ? "held" : "unseen";
  return [
    label(words.tree, 0, 13, "caption"),
    level(root + 30, middles[0], middles[GROUPS - 1], "axis"),
    upright(width / 2, root + 22, root + 30, "axis"),
    box(width / 2 - 48, root, 96, 22, look, { text: words.answer }),
    spans.map((span, g) => node(span, g, scene)),
    chunks.map((chunk, k) => leaf(chunk, k, at(k), scene)),
  ];
}

/** A chunk: what has become of it, and with whom. */
function leaf([how, where], k, x, { tree: { pitch, leaves, tall }, begun, wide }) {
  const fold = begun.filter(({ number }) => number === k).pop();
  const text = how === RUNNING ? fold.worker : who(fold, where, wide);
  const look = how === null ? "unseen" : LOOKS[how];
  const width = pitch - (wide ? 3 : 1);
  return [
    box(x, leaves, width, tall, look, { text, again: fold?.again }),
    wide || k % FAN === 0 || k === CHUNKS - 1
      ? label(k, x + (pitch - 1) / 2, leaves + tall + 15, "small middle")
      : "",
  ];
}

/** A merge over its chunks. */
function node([from, to], g, { tree: place, nodes, run, now, wide }) {
  const made = lastMade(run.merges, g, now);
  const look = nodes[g] ? "held" : made ? "lost" : "unseen";
  const middle = (from + to) / 2;
  const [top, low] = [place.nodes, place.leaves - 8];
  return [
    upright(middle, top + 24, low, "axis"),
    level(low, from + 2, to - 4, "axis"),
    upright(middle, place.root + 30, top, "axis"),
    box(
      middle - place.box / 2,
      top,
      place.box,
      24,
      now >= run.last.stop ? "merged" : look,
      { text: who(made, nodes[g], wide) },
    ),
  ];
}

/** What the looks stand for. */
function legend({ wide, words }) {
  const entries = [...LOOKS, "again"];
  const [step, across, y] = wide ? [140, 5, 164] : [108, 3, 156];
  return entries.map((look, i) => {
    const [x, top] = [(i % across) * step, y + Math.floor(i / across) * 24];
    const own = look === "again" ? "running" : look;
    return [
      box(x + 1, top, 18, 14, own, { again: look === "again" }),
      label(words.looks[i], x + 26, top + 12, "small"),
    ];
  });
}

/** A lane for each worker: what it folds and merges, and the states that travel. */
function lanes(scene) {
  const { lanes: place, x, now, words, wide, caption } = scene;
  const { top, tall, step, left, right } = place;
  const low = top + (WORKERS.length - 1) * step + tall + 8;
  const y = (worker) => top + WORKERS.indexOf(worker) * step;
  const seconds = Array.from({ length: SECONDS + 1 }, (_, s) => s);
  const drawn = { ...scene, y };
  return [
    label(words.lanes, 0, caption, "caption"),
    [...WORKERS].map((worker) => [
      rect({ class: "band", x: left, width: right - left, y: y(worker), height: tall }),
      label(worker, 0, y(worker) + tall / 2 + 5, "strong"),
    ]),
    level(low, left, right, "axis"),
    seconds.map((s) => [
      upright(x(1000 * s), low, low + 5, "axis"),
      wide || s % 2 === 0 ? label(s, x(1000 * s), low + 19, "small middle") : "",
    ]),
    upright(x(now), top - 8, low, "now"),
    travels(drawn),
    bars(drawn),
    death(drawn),
    joints(drawn),
  ];
}

/** Each chunk that was begun, as long as it takes. */
function bars({ lanes: { tall }, run, begun, status, x, y, now }) {
  const merges = [...run.merges, run.last].filter(({ stop }) => stop <= now);
  const covered = (at, whose) =>
    merges.some(({ worker, stop }) => worker === whose && Math.abs(x(stop) - at) < 13);
  return begun.map(({ number, worker, start, stop, again }, i) => {
    const width = Math.max(0.5, x(Math.min(now, stop)) - x(start) - 1);
    const text = width > 17 && !covered(x(start) + width / 2, worker) ? number : "";
    const look = LOOKS[status[i]];
    return box(x(start), y(worker), width, tall, look, { again, text });
  });
}

/** A cross where a worker dies, a plus where another comes, and nobody in between. */
function death({ lanes: { tall }, run, x, y, now }) {
  const { death: died, joined } = run;
  if (!died || now < died.start) return "";
  const [from, to] = [x(died.start) + 8, x(Math.min(now, joined.start))];
  const middle = y(died.worker) + tall / 2;
  return [
    level(middle, Math.min(from + 10, to), to, "down"),
    tag("path", {
      class: "cross",
      d: `M${r(from - 6)} ${middle - 6}l12 12m0 -12l-12 12`,
    }),
    now < joined.start
      ? ""
      : tag("path", { class: "plus", d: `M${r(to - 7)} ${middle}h14m-7 -7v14` }),
  ];
}

/** States on their way: one arrow for all that go from one worker to another at a time.
 *  Behind the lane between the two it cannot be seen. */
function travels({ lanes: { tall, left, right }, run, x, y, now, over }) {
  const arrows = bundled(run, now).map(({ from, worker, start, count }) => {
    const down = y(worker) > y(from) ? 1 : -1;
    const [y1, y2] =
      down > 0 ? [y(from) + tall, y(worker)] : [y(from), y(worker) + tall];
    const at = x(start) + 7 * (WORKERS.indexOf(from) - 1);
    return { at, y1, y2, down, count, fresh: now - start < 700 && !over };
  });
  const merges = [...run.merges, run.last].filter(({ stop }) => stop <= now);
  const passes = ({ y1, y2 }, height) => (y1 - height) * (y2 - height) < 0;
  const places = []; // of the counts: two of them need more room than a count and a line
  return arrows.map(({ at, y1, y2, down, count, fresh }) => {
    const height = y1 + 10 * down + 4;
    const free = (place) =>
      place > left + 5 &&
      place < right - 5 &&
      arrows.every((one) => Math.abs(one.at - place) > 7 || !passes(one, height)) &&
      merges.every(({ stop }) => Math.abs(x(stop) - place) > 7) &&
      places.every(([u, v]) => Math.abs(u - place) > 15 || Math.abs(v - height) > 15);
    const place = count > 1 ? [at + 9, at - 9].find(free) : null;
    if (place) places.push([place, height]);
    return group(
      { class: `travel${fresh ? " fresh" : ""}` },
      upright(at, y1, y2 - 5 * down, ""),
      tag("path", { d: `M${r(at - 4)} ${y2 - 6 * down}h8l-4 ${6 * down}z` }),
      place ? label(count, place, height, "count middle") : "",
    );
  });
}

/** What has set out by now, together what does so within half a second. */
function bundled({ sent, passed }, now) {
  const bundles = [];
  for (const { from, worker, start } of [...sent, ...passed]) {
    if (start > now) continue;
    const together = (one) =>
      one.from === from && one.worker === worker && Math.abs(start - one.start) < 500;
    const bundle = bundles.find(together);
    if (bundle) bundle.count += 1;
    else bundles.push({ from, worker, start, count: 1 });
  }
  return bundles;
}

/** A merge, across its lane: where eight states become one. */
const joints = ({ lanes: { tall }, run, x, y, now }) =>
  [...run.merges, run.last]
    .filter(({ stop }) => stop <= now)
    .map(({ worker, stop, gone }) =>
      rect({
        class: `joint${gone <= now ? " gone" : ""}`,
        x: x(stop) - 4,
        y: y(worker) - 4,
        width: 7,
        height: tall + 8,
        rx: 3.5,
      }),
    );

// Megabytes in a unit of a bar, of keys or of states: more than all runs read is 150 wide.
const ROOM = (1.6 * CHUNKS * READ) / 1e6 / 150;

const amount = (mb) => (mb < 100 ? num(mb, 1) : grouped(num(mb, 0)));

/** What the run has taken so far; bytes as bars too, all on one scale. */
function counters({ account: { y, step, across }, counts, megabytes, words }) {
  const values = [...counts, ...megabytes.map((mb) => `${amount(mb)} MB`)];
  return words.counts.map((text, i) => {
    const [x, top] = [(i % across) * step, y + Math.floor(i / across) * 46];
    const mb = megabytes[i - 2];
    return [
      label(text, x, top, "small"),
      label(values[i], x, top + 20, "strong"),
      mb ? rect({ class: "bytes", x, y: top + 28, width: mb / ROOM, height: 6 }) : "",
    ];
  });
}

// ---- the words ---------------------------------------------------------------------

export function say({ run: name }, { told, now, counts, megabytes }, words) {
  const run = RUNS[name];
  const last = run.told[told - 1];
  if (!last) return fill(words.sayBegin, { chunks: CHUNKS, workers: WORKERS.length });
  return {
    merge: () => sayMerge(last.merge, run, words),
    death: () => sayDeath(run, words),
    again: () => sayAgain(run, words),
    joined: () => fill(words.sayJoined, { worker: run.death.worker }),
    answer: () =>
      sentences([words.sayAnswer, counts[1] ? words.sayTwice : words.sayOnce], {
        s: num(run.last.stop / 1000, 1),
        chunks: CHUNKS,
        begun: CHUNKS + counts[1],
        folded: counts[0],
        again: counts[1],
        read: amount(megabytes[0]),
        sent: amount(megabytes[1]),
      }),
  }[last.what]();
}

const ends = ({ number }) => ({
  first: number * FAN,
  last: Math.min(CHUNKS, number * FAN + FAN) - 1,
});

/** Numbers in order, three or more neighbours as one span: 1, 7 and 16–23. */
function listed(numbers, { and }) {
  const spans = [];
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) {
    const span = spans[spans.length - 1];
    if (span && number === span[1] + 1) span[1] = number;
    else spans.push([number, number]);
  }
  const parts = spans.flatMap(([from, to]) =>
    to - from > 1 ? `${from}–${to}` : from === to ? from : [from, to],
  );
  return parts.join(", ").replace(/, (?=[^,]*$)/, and);
}

function sayMerge(merge, { folds }, words) {
  const own = folds.filter(({ taken }) => taken === merge);
  const sent = own
    .flatMap(({ copies }) => copies)
    .filter(({ worker }) => worker === merge.worker).length;
  return fill(words.sayMerge, {
    ...ends(merge),
    worker: merge.worker,
    count: own.length,
    sent,
    mb: num((sent * STATE) / 1e6, 1),
  });
}

/** What goes with the worker that dies, and what of its work lives on elsewhere. */
function sayDeath({ folds, merges, death }, words) {
  const own = folds.filter(
    ({ worker, start }) => worker === death.worker && start < death.start,
  );
  const dies = ({ gone }) => gone === death.start;
  const held = own.filter(
    (fold) => !fold.cut && dies(fold) && !(fold.taken?.stop <= death.start),
  );
  const cut = own.find((fold) => fold.cut);
  const merge = merges.find(dies);
  const living = own.find(({ taken }) => taken?.stop <= death.start && !dies(taken));
  const numbers = (all) =>
    listed(
      all.map(({ number }) => number),
      words,
    );
  return sentences(
    [
      words.sayDeath,
      held.length && (held.length > 1 ? words.sayStates : words.sayState),
      merge && words.sayGone,
      cut && words.sayCut,
      living && words.sayLives,
    ],
    {
      worker: death.worker,
      states: numbers(held),
      chunk: cut?.number,
      other: living?.taken.worker,
      ...ends(merge ?? living?.taken ?? death),
    },
  );
}

function sayAgain({ folds, death }, words) {
  const again = folds.filter((fold) => fold.again).map(({ number }) => number);
  const others = [...WORKERS].filter((worker) => worker !== death.worker);
  return fill(words.sayAgain, {
    workers: others.join(words.and),
    again: listed(again, words),
    count: again.length,
  });
}

export function table(_, { begun, status, now }, words) {
  const rows = begun.map(({ number, worker, start, stop, again }, i) => [
    number,
    worker,
    num(start / 1000, 1),
    stop <= now ? num(stop / 1000, 1) : "…",
    words.looks[status[i]] + (again ? `, ${words.looks[4]}` : ""),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
