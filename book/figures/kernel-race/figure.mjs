// A race: the threads of one block over time, drawn from the log of a kernel that ran.
// Between two barriers nobody knows which of two threads is first.

import { QUANTITIES } from "livepage/constants";
import { fading, picture } from "livepage/picture.mjs";
import { group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num, percent } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ kernel, step, log, examples }) {
  const run = kernel === "yours" ? log : examples[kernel];
  const arrays = run.arrays ?? [];
  const [across, down] = run.block ?? [0, 0];
  const threads = across * down;
  const faults = run.faults ?? [];
  const races = faults
    .filter(({ kind }) => kind === "race")
    .map(({ array, line: now, earlier }) => pair(array, now, earlier));
  const isRace = ({ before, now }) =>
    races.includes(pair(arrays[now.array].name, before.at, now.at));
  const phases = inShared(run).map(({ touches, barrier }, k) => ({
    ...phase(touches.map(touch), threads, isRace),
    barrier,
    number: k + 1,
  }));
  return {
    threads,
    across,
    phases,
    arrays,
    run,
    steps: phases.length,
    now: phases[Math.min(step, phases.length) - 1] ?? null,
    race: races.length > 0,
    drawn: phases.some(({ clashes }) => clashes.length > 0),
    stopped: faults.some(({ kind }) => !GOES_ON.test(kind)),
    barriers: phases.filter(({ barrier }) => barrier !== null).length,
  };
}

/** What a race of the simulator names: an array and two lines. */
const pair = (array, ...at) => `${array} ${at.sort()}`;

const GOES_ON = /race|uninitialised|float64/;

/** The phases of the faulty block, or of the only one: touches of shared arrays. */
function inShared({ blocks = [], arrays = [] }) {
  const shared = ([, , array]) => arrays[array].space === "shared";
  const phases = blocks.length ? blocks[blocks.length - 1].phases : [];
  const kept = phases.map((each) => ({
    ...each,
    touches: each.touches.filter(shared),
  }));
  return kept.some(({ touches }) => touches.length) ? kept : [];
}

const touch = ([thread, how, array, index, at]) => ({ thread, how, array, index, at });

/** Each thread's touches in its own order: the k-th stands in column k. */
function phase(touches, threads, isRace) {
  const count = new Map();
  const placed = touches.map((each) => {
    const column = count.get(each.thread) ?? 0;
    count.set(each.thread, column + 1);
    return { ...each, column };
  });
  const columns = Math.max(1, ...count.values());
  const met = collisions(placed, isRace);
  const clashes = met.filter(isRace);
  return {
    touches: placed,
    columns,
    clashes,
    ordered: met.length > clashes.length,
    working: count.size,
    share: count.size / Math.max(1, threads),
  };
}

/**
 * Two threads, one element, and not both only read, or both only add atomically. Writes
 * that are no race were ordered, or wrote the same number.
 */
function collisions(touches, isRace) {
  const seen = new Map();
  return touches.flatMap((now) => {
    const cell = `${now.array}:${now.index}`;
    const earlier = seen.get(cell) ?? [];
    seen.set(cell, [...earlier, now]);
    const before = earlier.find(
      (before) =>
        before.thread !== now.thread &&
        (before.how !== now.how || (now.how === "w" && isRace({ before, now }))),
    );
    return before ? [{ before, now }] : [];
  });
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, left: 64, least: 27, most: 54, gap: 16, thread: true };
const NARROW = { width: 320, left: 28, least: 21, most: 34, gap: 8, thread: false };
const [TOP, FLOOR, HEIGHT] = [58, 314, 340]; // of the lanes, of the picture
const [MOST_LINKS, MOST_COLUMNS] = [12, 40]; // no more of them are drawn

export function draw(state, numbers, { wide, words, title, was }) {
  const page = wide ? WIDE : NARROW;
  const scene = {
    page,
    words,
    state,
    ...layout(state, numbers, page),
    lane: (FLOOR - TOP) / Math.max(1, numbers.threads),
    forward: was && was.step < state.step,
  };
  return picture({ width: page.width, height: HEIGHT, title, glide: 900 }, [
    legend(page, words),
    numbers.threads ? lanes(numbers, scene) : "",
    scene.shown.map((each) => section(each, scene)),
    scene.shown.map((each) => links(each, scene)),
    scene.shown.map((each) => happened(each, numbers, scene)),
    numbers.steps
      ? ""
      : label(words.nothing, page.width / 2, (TOP + FLOOR) / 2, "small middle"),
  ]);
}

function legend({ width }, words) {
  const sample = (x, look) => rect({ x, y: 3, width: 18, height: 15, class: look });
  return [
    sample(0, "touch writes"),
    label(words.writes, 24, 15, "small"),
    sample(90, "touch reads"),
    label(words.reads, 114, 15, "small"),
    label(words.time, width, 15, "small end"),
  ];
}

/** The page of phases on which the current one stands, and where each begins. */
function layout({ step }, { phases, steps }, { width, left, least, most, gap }) {
  const room = width - left;
  const pages = [[]];
  let used = 0;
  for (const each of phases) {
    const wanted = each.columns * least + gap;
    if (used && used + wanted > room) [used] = [0, pages.push([])];
    used += wanted;
    pages[pages.length - 1].push(each);
  }
  const at = Math.min(Math.max(step, 1), Math.max(steps, 1));
  const shown = pages.find((some) => some.some(({ number }) => number === at)) ?? [];
  const columns = shown.reduce((sum, each) => sum + each.columns, 0);
  const column = Math.min(most, (room - shown.length * gap) / Math.max(1, columns));
  const starts = new Map();
  shown.reduce((x, each) => {
    starts.set(each.number, x);
    return x + each.columns * column + gap;
  }, left);
  return { shown, column, starts };
}

function lanes({ threads, across }, { page, words, lane }) {
  const every = Math.ceil(15 / lane);
  const table = across < threads;
  const position = (t) => (table ? `${t % across}, ${Math.floor(t / across)}` : `${t}`);
  const name = (t) => (page.thread && !table ? fill(words.thread, { t }) : position(t));
  return Array.from({ length: threads }, (_, t) => [
    level(TOP + (t + 0.5) * lane, page.left, page.width, "lane"),
    t % every ? "" : label(name(t), 0, TOP + (t + 0.5) * lane + 4, "small"),
  ]);
}

/** The room between two barriers, and the barrier that ends it. */
function section({ number, columns, barrier }, { page, state, words, starts, column }) {
  const [x, wide] = [starts.get(number), columns * column];
  const end = x + wide + page.gap / 2;
  return group(
    { key: `${state.kernel}${number}` },
    rect({
      class: `band${number === state.step ? " lit" : ""}`,
      rx: 4,
      x: x - 2,
      width: wide + 2,
      y: TOP - 8,
      height: FLOOR - TOP + 12,
    }),
    label(
      wide > 60 ? fill(words.phase, { k: number }) : `${number}`,
      x + wide / 2,
      TOP - 16,
      "small middle",
    ),
    barrier === null
      ? ""
      : [
          upright(
            end,
            TOP - 12,
            FLOOR + 6,
            `barrier${number <= state.step ? "" : " coming"}`,
          ),
          page.thread
            ? label(
                words.barrier,
                Math.min(end, page.width - 22),
                FLOOR + 21,
                "small middle",
              )
            : "",
        ].join(""),
  );
}

/** The touches of a phase that has been reached. */
function happened({ number, touches, clashes }, numbers, scene) {
  const { state, starts, forward } = scene;
  if (number > state.step) return "";
  const clashing = new Set(clashes.flatMap(({ before, now }) => [before, now]));
  const box = (one) =>
    touched(one, clashing.has(one), numbers, scene, starts.get(number));
  return group(
    {
      key: `t${state.kernel}${number}`,
      ...fading([0, 0.5], forward && number === state.step),
    },
    ...touches.slice(0, MOST_COLUMNS * numbers.threads).map(box),
  );
}

/** One touch: filled if it writes, hollow if it reads, outlined if it collides. */
function touched(one, wrong, numbers, scene, x) {
  const { thread, how, array, index, column: slot } = one;
  const { column, lane } = scene;
  const height = Math.min(24, lane - 2);
  const [left, width] = [x + slot * column, Math.max(1, column - 3)];
  const top = TOP + (thread + 0.5) * lane - height / 2;
  const { name, shape } = numbers.arrays[array];
  const at = element(index, shape);
  const long = `${name}[${at}]`;
  const text = [long, `${name}${at}`, at].find((one) => one.length * 8.4 < width) ?? "";
  const look = `touch ${how === "r" ? "reads" : "writes"}${wrong ? " wrong" : ""}`;
  return group(
    { q: quantity(name), class: look },
    rect({ x: left, width, y: top, height, rx: 3 }),
    text && lane > 14
      ? label(text, left + width / 2, top + height / 2 + 4.5, "middle")
      : "",
  );
}

/** What an array of this name holds, if the book has a letter for it. */
const quantity = (name) => (QUANTITIES.includes(name) ? name : null);

/** The index of an element as it is written: "5", or "1,2" in two dimensions. */
function element(index, shape) {
  return shape.length < 2
    ? `${index}`
    : `${Math.floor(index / shape[1])},${index % shape[1]}`;
}

/** A line between every two touches that collide. */
function links({ number, clashes }, { state, starts, column, lane }) {
  if (number > state.step) return "";
  const center = ({ thread, column: slot }) => [
    starts.get(number) + (slot + 0.5) * column - 1.5,
    TOP + (thread + 0.5) * lane,
  ];
  return clashes.slice(0, MOST_LINKS).map(({ before, now }, k) => {
    const [[x1, y1], [x2, y2]] = [center(before), center(now)];
    return tag("path", {
      key: `c${state.kernel}${number}-${k}`,
      class: "clash",
      d: `M${num(x1, 1)} ${num(y1, 1)}L${num(x2, 1)} ${num(y2, 1)}`,
    });
  });
}

// ---- the words ---------------------------------------------------------------------

/** An array's name; if it is one of the book's letters, it lights up with it. */
const spelled = (name) => (quantity(name) ? `[${name}: ${name}]` : name);

/** What the sentence says of a touch: its thread, its line, what it does and where. */
function described(
  { thread, how, array, index, at },
  { arrays, across, threads },
  words,
) {
  const { name, shape } = arrays[array];
  const position = element(index, shape).replace(",", ", ");
  const [x, y] = [thread % across, Math.floor(thread / across)];
  const t = across < threads ? `(${x}, ${y})` : thread;
  return {
    t,
    line: at,
    does: how === "r" ? words.doesRead : words.doesWrite,
    cell: `${spelled(name)}[${position}]`,
  };
}

function sentence({ before, now }, numbers, words) {
  const [a, b] = [described(before, numbers, words), described(now, numbers, words)];
  return fill(words.sayClash, {
    a: a.t,
    b: b.t,
    cell: a.cell,
    does: a.does,
    doesToo: b.does,
    line: a.line,
    lineToo: b.line,
  });
}

export function say({ step }, numbers, words) {
  const { steps, threads, now, race, drawn, stopped, barriers } = numbers;
  const clean = stopped ? words.sayStopped : words.sayClean;
  if (!steps) return !threads ? words.sayEmpty : stopped ? clean : words.sayNoShared;
  const touched = new Set(now?.touches.map(({ array }) => numbers.arrays[array].name));
  const values = {
    threads,
    barriers,
    k: step,
    n: steps,
    working: now?.working,
    names: [...touched].map(spelled).join(", "),
  };
  if (!now) return fill(barriers === 1 ? words.sayStartOne : words.sayStart, values);
  const clash = worst(now.clashes, numbers.run);
  const end =
    step < steps
      ? ""
      : !race
        ? clean
        : clash
          ? words.sayRace
          : drawn
            ? words.sayRaceBefore
            : words.sayRaceElsewhere;
  const finding = clash
    ? sentence(clash, numbers, words)
    : now.ordered
      ? words.sayOrdered
      : words.sayFine;
  const does = now.working ? words.sayPhase : words.sayIdle;
  return [fill(does, values), finding, end].filter(Boolean).join(" ");
}

/** The collision to speak of: the first that the simulator named, if it did. */
function worst(clashes, { arrays, faults = [] }) {
  const named = ({ threads = [], index }) =>
    clashes.find(
      ({ before, now }) =>
        threads.includes(before.thread) &&
        threads.includes(now.thread) &&
        `${index}` === element(now.index, arrays[now.array].shape),
    );
  return faults.map(named).find(Boolean) ?? clashes[0];
}

const ROWS = 3; // fewer lines of code are filled up with empty ones

/** The lines of the kernel that this phase runs, and the barrier that ends it. */
export function code(_, { now, arrays, run: { source = "" } }, words) {
  const lines = source.split("\n");
  const { touches = [], clashes = [], barrier = null } = now ?? {};
  const clashing = new Set(clashes.flatMap((each) => [each.before.at, each.now.at]));
  const at = [...new Set([...touches.map((each) => each.at), barrier])];
  const touched = (number) => arrays[touches.find((one) => one.at === number)?.array];
  const rows = at
    .filter(Boolean)
    .sort((a, b) => a - b)
    .map((number) => ({
      q: quantity(touched(number)?.name ?? ""),
      text: lines[number - 1]?.trim() ?? "",
      value: fill(words.line, { k: number }),
      fault: clashing.has(number),
    }));
  while (rows.length < ROWS) rows.push({ text: " ", value: "" });
  return rows;
}

export function table(_, numbers, words) {
  const { phases } = numbers;
  const rows = phases.map(({ number, touches, working, share, clashes }) => {
    const writes = touches.filter(({ how }) => how !== "r").length;
    const active = `${working} (${percent(share)})`;
    return [number, active, writes, touches.length - writes, clashes.length];
  });
  return { caption: words.tableCaption, head: words.tableHead, rows };
}

/** What changes when the reader has run a kernel: the figure goes to its first collision,
 *  or else to the last phase in which something happens. */
export function hear({ log, source }) {
  const { phases, steps } = compute({ kernel: "yours", step: 0, log, examples: {} });
  const busy = phases.filter(({ touches }) => touches.length);
  const shown = phases.find(({ clashes }) => clashes.length) ?? busy[busy.length - 1];
  return { kernel: "yours", log: { ...log, source }, step: shown?.number ?? steps };
}
