// The reader's kernel among the rungs of a bench: each checked, then all timed in turns.

import { show } from "livepage/drills/page";

import { CLOSE, distance } from "./compare.mjs";
import { Launch } from "./launch.mjs";
import { roofline } from "./roofline.mjs";
import { prepare } from "./translator.mjs";
import { Trouble, breathe } from "./trouble.mjs";

const LONGEST_MS = 250; // what the slowest may take at the size that counts
const TIMES = 5;
const FEWER = 3; // times, on a program that does as if it were a GPU
const SAMPLED = 64; // rows that are compared at the size that is timed
const BUSY_MS = 30; // without an answer to the reader
const UNFIT = ["tooManyThreads", "tooMuchShared", "tooManyArrays"];

/** Check and time; give what there is to show. */
export async function runLadder(run, text, payload, bench) {
  const { gpu, say } = run;
  const few = bench.problem(bench.CHECKED);
  const yours = await readyYours(run, kernelOf(text, payload, bench), bench, few);
  const { kernels, refused } = await readyRungs(run, bench, few);
  const [naive, ...others] = kernels;
  say("findsRoof");
  const roof = await roofline(gpu);
  const found = await timed(run, [naive, yours, ...others], bench);
  return { roof, ...found, few: few.n, refused, wgsl: yours.made.wgsl };
}

const isYours = ({ name }) => name === "yours";

/** The reader's kernel as a rung: in the size that is timed, in one build. */
function kernelOf(text, payload, bench) {
  const { names, block, tile } = payload.bench;
  const { args } = payload.cases[0];
  return {
    name: "yours",
    text,
    function: payload.function,
    takes: args.map(([name]) => name),
    kinds: bench.kindsOf(args),
    whole: true,
    builds: [{ names, block, rows: block, tile }],
  };
}

/** The reader's kernel has one build; one that does not fit is no fault of the drill. */
async function readyYours(run, rung, bench, few) {
  try {
    return await ready(run, rung, bench, few);
  } catch (error) {
    if (!UNFIT.includes(error.word)) throw error;
    const why = run.word(error.word, error.slots);
    const slots = { why, ...sizesOf(rung.builds[0]) };
    throw new Trouble("unfitYours", slots, { wgsl: error.wgsl });
  }
}

/** The sizes of a build, for the slots of a sentence. */
function sizesOf({ names }) {
  const sizes = Object.entries(names).map(([name, value]) => `${name} = ${value}`);
  return { sizes: sizes.join(", "), names: Object.keys(names).join(", ") };
}

/** The rungs in the first build that fits, and those that fit in none. */
async function readyRungs(run, bench, few) {
  const [kernels, refused] = [[], []];
  for (const rung of bench.rungs) {
    try {
      kernels.push(await ready(run, rung, bench, few));
    } catch (error) {
      if (!UNFIT.includes(error.word)) throw error;
      refused.push({ name: rung.name, word: error.word, slots: error.slots });
    }
  }
  return { kernels, refused };
}

/** A kernel that is compiled, and right in a small launch. */
async function ready(run, rung, bench, few) {
  const name = run.label(rung.name);
  run.say("compiles", { name });
  const kernel = await built(run, rung);
  run.say("checks", { name, n: few.n });
  kernel.off = await check(run, kernel, bench, few);
  return kernel;
}

async function built({ gpu, translator }, rung) {
  let unfit;
  for (const build of rung.builds) {
    const { text, kinds, whole = false } = rung;
    const { names, block } = build;
    const job = { text, function: rung.function, names, whole, block, kinds };
    try {
      return { ...rung, ...build, ...(await prepare(gpu, translator, job)) };
    } catch (error) {
      if (!UNFIT.includes(error.word)) throw error;
      unfit = error;
    }
  }
  throw unfit;
}

async function opened({ gpu, translator }, kernel, bench, given) {
  const { grid, args } = bench.launch(given, kernel);
  const values = args.map((one) => one.shape ?? one);
  const asked = { launch: grid, arguments: values, of: kernel.made.key };
  const header = await translator.ask(asked);
  return { launch: await Launch.open(gpu, kernel, header, args), grid };
}

/** Launch once, and compare rows with the definition; all of them if there are few. */
async function check(run, kernel, bench, given) {
  const { launch, grid } = await opened(run, kernel, bench, given);
  await launch.run(grid);
  const { arrays, inStep } = await launch.results();
  launch.close();
  if (!inStep) {
    Object.assign(kernel, await prepare(run.gpu, run.translator, kernel.job, 0));
    return check(run, kernel, bench, given);
  }
  return compared(run, kernel, bench, given, arrays);
}

async function compared(run, kernel, bench, given, arrays) {
  let [worst, at] = [0, null];
  for (const row of rowsOf(given.n, kernel.rows)) {
    const rights = await known(run, bench, given, row);
    for (const [name, right] of Object.entries(rights)) {
      const all = arrays[name];
      if (!all) continue; // a drill's kernel need not give all that the rungs do
      const mine = all.subarray(row * right.length, (row + 1) * right.length);
      const off = distance(mine, right);
      if (off > worst) [worst, at] = [off, row];
    }
  }
  if (worst <= CLOSE) return worst;
  const name = run.label(kernel.name);
  const slots = { n: given.n, row: at, name, ...sizesOf(kernel) };
  const word = isYours(kernel) ? "offYours" : "offRung";
  throw new Trouble(word, slots, { wgsl: kernel.made.wgsl });
}

/** What is right in a row: computed once, and not so long that the page stands still. */
async function known(run, bench, given, row) {
  given.rights ??= new Map();
  if (!given.rights.has(row)) {
    given.rights.set(row, bench.expected(given, row));
    if (performance.now() - (run.breathed ?? 0) > BUSY_MS) {
      await breathe();
      run.gpu.signal.throwIfAborted();
      run.breathed = performance.now();
    }
  }
  return given.rights.get(row);
}

/** The rows to compare: all, or those at edges of blocks and others here and there. */
function rowsOf(n, block) {
  if (n <= 512) return Array.from({ length: n }, (_, row) => row);
  const rows = new Set([0, 1, block - 1, block, n - block, n - 2, n - 1]);
  const chance = (k) => (k * 2654435761) % n; // the same for all kernels
  for (let k = 1; rows.size < SAMPLED; k += 1) rows.add(chance(k));
  return [...rows];
}

/** Double the size until the slowest takes long enough; then time all, in turns. */
async function timed(run, kernels, bench) {
  for (const kernel of kernels) kernel.ms = 0;
  for (let n = bench.FIRST; ; n *= 2) {
    const given = bench.problem(n);
    const laid = [];
    for (const kernel of kernels) {
      const guess = 4 * kernel.ms;
      const slots = { name: run.label(kernel.name), n, ms: show(guess, 2) };
      run.say(guess ? "times" : "timesFirst", slots);
      const { launch, grid } = await opened(run, kernel, bench, given);
      kernel.ms = (await launch.run(grid)).ms;
      laid.push({ kernel, launch, grid });
    }
    const slowest = Math.max(...kernels.map(({ ms }) => ms));
    const isLast = 4 * slowest > LONGEST_MS || 2 * n > bench.MOST;
    if (isLast) await settle(run, laid, bench, given);
    const untimed = isLast && kernels.find(({ ms }) => !(ms > 0));
    if (untimed) throw new Trouble("noTime", { name: run.label(untimed.name), n });
    for (const { launch } of laid) launch.close();
    if (!isLast) continue;
    const rows = kernels.map((kernel) => rowOf(kernel, bench, n));
    return { n, rows, times: timesOn(run.gpu), compared: rowsOf(n, 1).length };
  }
}

const timesOn = ({ isSoftware }) => (isSoftware ? FEWER : TIMES);

async function settle(run, laid, bench, given) {
  const { n } = given;
  const times = timesOn(run.gpu);
  for (let time = 1; time < times; time += 1) {
    run.say("repeats", { n, time: time + 1, all: times });
    for (const { kernel, launch, grid } of laid) {
      kernel.ms = Math.min(kernel.ms, (await launch.run(grid)).ms);
    }
  }
  for (const { kernel, launch } of laid) {
    run.say("checks", { name: run.label(kernel.name), n });
    const { arrays } = await launch.results();
    const off = await compared(run, kernel, bench, given, arrays);
    kernel.off = Math.max(kernel.off, off);
  }
}

const rowOf = ({ name, tile, ms, off }, bench, n) => ({
  name,
  tile,
  ms,
  off,
  rate: bench.work(n) / ms / 1e6,
});
