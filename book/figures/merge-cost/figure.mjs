// Folding and merging on 1 to 1,024 workers: the time of both, and merging's share of it.

import {
  CHUNK,
  CORE,
  D,
  DOTS,
  DOUBLE,
  ITEM,
  NETWORKS,
  SCHEDULERS,
  SIMULATED,
  WORKERS,
} from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { circle, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute(state) {
  const { queries, stored: keys, network, fan, scheduler } = state;
  const parts = WORKERS.map((workers) => spent(state, workers));
  const totals = parts.map(sum);
  const shares = parts.map((each, i) => each[1] / totals[i]);
  const played = network === "centre" && fan === 8;
  return {
    parts,
    totals,
    shares,
    reached: [0.1, 0.5].map(
      (share) => WORKERS[shares.findIndex((each) => each >= share)] ?? null,
    ),
    worth: parts.at(-1)[1] / foldTime(queries, 1),
    state: stateBytes(queries),
    bytes: 2 * ITEM * D * keys,
    best: WORKERS[totals.indexOf(Math.min(...totals))],
    dots: (played && SIMULATED[`${queries} ${keys} ${scheduler}`]) || null,
  };
}

const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
const stateBytes = (queries) => queries * (2 + D) * DOUBLE;

/** Seconds for its operations or for its bytes, whichever is more. */
function foldTime(queries, keys) {
  const [reading, operations] = CORE;
  return Math.max(
    (4 * queries * keys * D) / operations,
    (2 * ITEM * D * keys) / reading,
  );
}

/** Seconds of folding, of merging, and of waiting for the scheduler. */
function spent({ queries, stored: keys, network, fan, scheduler }, workers) {
  const chunk = Math.min(CHUNK, Math.ceil(keys / workers));
  const chunks = Math.ceil(keys / chunk);
  const tree = fan === "all" ? Math.max(2, chunks) : fan;
  const fold = foldTime(queries, chunk);
  const rounds = Math.ceil(chunks / workers);
  const size = stateBytes(queries);
  const path = levels(chunks, rounds, tree).map((each) =>
    levelTime(each, size, network),
  );
  const [folding, merging, each] = [rounds * fold, sum(path), SCHEDULERS[scheduler]];
  if (!each) return [folding, merging, 0];
  const last = chunks - (rounds - 1) * workers; // of those that have a chunk each round
  const folded = Math.max(
    last * each + folding,
    workers * each + (rounds - 1) * fold,
    chunks * each + fold,
  );
  const handedOut = (chunks + merges(chunks, tree)) * each;
  const done = Math.max(
    folded + path.length * each + merging,
    handedOut + (path.at(-1) ?? 0),
  );
  return [folding, merging, done - folding - merging];
}

/** For each level but the root's: how many nodes it has, and how many states one spans. */
function below(states, fan) {
  const found = [];
  for (let apart = 1; apart < states; apart *= fan)
    found.push([Math.ceil(states / apart), apart]);
  return found;
}

/** What each level asks of the first worker, who has `own` states: messages, merges. */
const levels = (states, own, fan) =>
  below(states, fan).map(([nodes, apart]) => {
    const held = Math.min(Math.ceil(own / apart), nodes);
    const groups = Math.ceil(held / fan);
    const taken = Math.min(groups * fan, nodes);
    return [taken - held, taken - groups];
  });

function levelTime([messages, merged], size, name) {
  const [latency, bandwidth, handling] = NETWORKS[name];
  const arriving = messages ? latency + messages * (handling + size / bandwidth) : 0;
  return arriving + (merged * size) / CORE[2];
}

/** How many tasks the tree has: none for a state that has no neighbour left. */
const merges = (states, fan) =>
  sum(
    below(states, fan).map(
      ([nodes]) => Math.ceil(nodes / fan) - (nodes % fan === 1 ? 1 : 0),
    ),
  );

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 448,
  left: 66,
  right: 712,
  high: 52,
  low: 268,
  strip: [312, 372],
  half: 19, // of a bar's width
  legend: { x: 214, y: 16, columns: [0, 88, 182, 286], row: 0 },
  every: 1,
};
const NARROW = {
  width: 320,
  height: 484,
  left: 54,
  right: 312,
  high: 88,
  low: 290,
  strip: [340, 400],
  half: 8.5,
  legend: { x: 0, y: 38, columns: [0, 84, 172], row: 20 },
  every: 2,
};

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const inset = page.half + 2;
  const step = (page.right - page.left - 2 * inset) / (WORKERS.length - 1);
  const [most, least] = ends(numbers);
  const scene = {
    ...page,
    words,
    wide,
    most,
    least,
    x: (i) => page.left + inset + i * step,
    y: (seconds) =>
      page.low -
      ((Math.log10(seconds) - least) / (most - least)) * (page.low - page.high),
  };
  return picture({ ...page, title, glide: 450 }, [
    grid(scene),
    bands(numbers, scene),
    marks(numbers, scene),
    lines(numbers, scene),
    simulations(numbers, scene),
    shares(numbers, scene),
    legend(state, numbers, scene),
  ]);
}

/** Powers of ten above and below every time. */
const ends = ({ parts, totals }) => [
  Math.ceil(Math.log10(Math.max(...totals)) - 1e-9),
  Math.floor(Math.log10(Math.min(...parts.map(([folding]) => folding))) + 1e-9),
];

function grid({ x, y, left, right, low, most, least, strip, words, every }) {
  const powers = Array.from({ length: most - least + 1 }, (_, i) => least + i);
  return [
    label(words.y, 0, 16, "caption"),
    powers.map((power) => [
      label(tick(power, words), left - 8, y(10 ** power) + 4, "small end"),
      level(y(10 ** power), left, right, power === least ? "axis" : "rule"),
    ]),
    WORKERS.map((workers, i) => [
      upright(x(i), low, low + 4, "axis"),
      i % every ? "" : label(grouped(workers), x(i), strip[1] + 44, "small middle"),
    ]),
    label(words.x, right, strip[1] + 68, "caption end"),
  ];
}

/** What merging adds to folding, and what waiting adds to both. */
function bands({ parts, totals }, scene) {
  const folding = parts.map((each) => each[0]);
  const merged = parts.map((each) => each[0] + each[1]);
  const waits = parts.some((each) => each[2] > 0);
  return [
    band("merging", folding, merged, scene),
    waits ? band("waiting", merged, totals, scene) : "",
  ];
}

function band(look, below, above, { x, y }) {
  const there = above.map((each, i) => `${x(i)} ${y(each).toFixed(1)}`);
  const back = below.map((each, i) => `${x(i)} ${y(each).toFixed(1)}`).reverse();
  const d = `M${[...there, ...back].join("L")}Z`;
  return tag("path", { key: look, class: `time ${look}`, d });
}

const PERCENT = 40; // the room of a mark's name, such as 10%

/** Where merging reaches a tenth and half of the time. */
function marks({ reached }, { x, high, strip }) {
  const [tenth, half] = reached;
  const shown = [tenth === half ? null : tenth, half];
  const apart = x(WORKERS.indexOf(half)) - x(WORKERS.indexOf(tenth));
  const meet = tenth && half && apart < PERCENT;
  const sides = meet ? ["end", ""] : ["middle", "middle"];
  return shown.map((workers, i) => {
    if (!workers) return "";
    const at = x(WORKERS.indexOf(workers));
    return [
      upright(at, high - 4, strip[1], { key: `mark${i}`, class: "reached" }),
      label(percent(i ? 0.5 : 0.1), at, high - 10, {
        key: `reached${i}`,
        class: `small lit ${sides[i]}`,
      }),
    ];
  });
}

function lines({ parts, totals }, { x, y, words }) {
  const path = (key, look, times) =>
    tag("path", {
      key,
      class: look,
      d: `M${times.map((each, i) => `${x(i)} ${y(each).toFixed(1)}`).join("L")}`,
    });
  const ideal = WORKERS.map((workers) => parts[0][0] / workers);
  return [
    path("ideal", "even ideal", ideal),
    path("whole", "whole", totals),
    label(words.ideal, x(6) - 8, y(ideal[6]) + 30, {
      key: "ideal-name",
      class: "small end halo",
    }),
  ];
}

const simulations = ({ dots }, { x, y }) =>
  (dots ?? []).map((seconds, i) =>
    circle(x(WORKERS.indexOf(DOTS[i])), y(seconds), 5, {
      key: `dot${i}`,
      class: "played",
    }),
  );

/** A bar for each number of workers: what the time is spent on, from merging up. */
function shares({ parts, totals, shares: merging }, scene) {
  const { x, strip, half, words, every } = scene;
  const [top, bottom] = strip;
  const looks = ["merging", "waiting", "folding"];
  const bars = parts.map(([folding, merged, waiting], i) => {
    let at = bottom;
    return [merged, waiting, folding].map((seconds, k) => {
      const height = (seconds / totals[i]) * (bottom - top);
      at -= height;
      return rect({
        key: `${looks[k]}${i}`,
        class: `time ${looks[k]}`,
        x: x(i) - half,
        y: at,
        width: 2 * half,
        height,
        rx: 0,
      });
    });
  });
  return [
    label(words.strip, 0, top - 12, "caption halo"),
    bars,
    merging.map((share, i) =>
      i % every
        ? ""
        : label(`${short(100 * share)}%`, x(i), bottom + 20, {
            class: share >= 0.1 ? "small lit middle" : "small middle",
          }),
    ),
  ];
}

function legend({ scheduler }, { dots }, { legend: at, words }) {
  const looks = ["folding", "merging"];
  if (dots) looks.push("played");
  if (scheduler !== "none") looks.push("waiting");
  return looks.map((look, i) => {
    const x = at.x + at.columns[i % at.columns.length];
    const y = at.y + at.row * Math.floor(i / at.columns.length);
    return [
      look === "played"
        ? circle(x + 5.5, y - 4.5, 5, look)
        : rect({ class: `time ${look}`, x, y: y - 10, width: 11, height: 11 }),
      label(words.legend[look], x + 17, y, "small"),
    ];
  });
}

// ---- the words ---------------------------------------------------------------------

const short = (x) => num(x, x >= 9.95 || x < 0.05 ? 0 : 1);

/** Three digits, or a whole number. */
const digits = (x) =>
  x >= 99.95 ? grouped(Math.round(x)) : num(x, x >= 9.995 ? 1 : 2);

/** 10 to a power, in seconds. */
function tick(power, { units }) {
  if (power < 0)
    return `${num(10 ** (power + 3), Math.max(0, -3 - power))} ${units[0]}`;
  return `${power < 4 ? grouped(10 ** power) : `10^{${power}}`} ${units[1]}`;
}

const STEPS = [1000, 60, 60, 24]; // from each unit to the next

/** 0.0128 as "12.8 ms", 2820 as "47.0 min". */
function time(seconds, { units }) {
  let [value, unit] = [1000 * seconds, 0];
  while (unit < STEPS.length && value >= STEPS[unit]) value /= STEPS[unit++];
  return `${digits(value)} ${units[unit]}`;
}

const SIZES = ["bytes", "kB", "MB", "GB", "TB"];

function size(bytes) {
  let [value, unit] = [bytes, 0];
  while (value >= 999.5) [value, unit] = [value / 1000, unit + 1];
  return `${unit ? digits(value) : value} ${SIZES[unit]}`;
}

/** 11372 as "11,400": three digits that say something. */
function about(x) {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(x)) - 2);
  return grouped(unit * Math.round(x / unit));
}

export function say(state, numbers, words) {
  const { totals, reached, worth, bytes, best, parts } = numbers;
  const [tenth, half] = reached;
  const workers = WORKERS.at(-1);
  const gain = totals[0] / totals.at(-1);
  const waits = parts.at(-1)[2] / totals.at(-1);
  const values = {
    queries: fill(words.queries[state.queries === 1 ? 0 : 1], {
      n: grouped(state.queries),
    }),
    keys: words.choices[state.stored],
    bytes: size(bytes),
    one: time(totals[0], words),
    last: time(totals.at(-1), words),
    times: digits(Math.max(gain, 1 / gain)),
    tenth: grouped(tenth),
    half: grouped(half),
    worth: about(worth),
    own: grouped(Math.ceil(state.stored / workers)),
    best: grouped(best),
    waits: waits < 0.005 ? "<1%" : percent(waits),
  };
  const never = half === null ? words.sayTenth : words.sayBoth;
  return sentences(
    [
      `${words.say} ${gain < 1 ? words.saySlower : words.sayFaster}`,
      tenth === null ? words.sayNever : tenth === half ? words.sayHalf : never,
      state.scheduler === "none" ? words.sayWorth : words.sayWaits,
      best < workers && words.sayBest,
    ],
    values,
  );
}

export function table(state, { parts, totals, shares: merging }, words) {
  const shown = (row) => row.filter((_, i) => i !== 5 || state.scheduler !== "none");
  const rows = parts.map((each, i) => [
    grouped(WORKERS[i]),
    time(totals[i], words),
    digits(totals[0] / totals[i]),
    ...each.map((seconds) => time(seconds, words)),
    `${short(100 * merging[i])}%`,
  ]);
  return {
    caption: words.tableCaption,
    head: shown(words.tableHead),
    rows: rows.map(shown),
  };
}
