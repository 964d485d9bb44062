// Python on the page: fetched on the first run. Each run has a worker of its own, which
// ends with it; the worker of the next run is started at once, so that nobody waits for it.

import { patience } from "./patience.mjs";

const STARTING_MS = 10000; // until the reader's code begins
const SILENT_MS = 2000; // without a sign of life
// After the first failure, to find out which mistake it is: as many times as long as it
// took to get there, for a slow or busy machine takes longer for either; at least so long.
const NAMING_TIMES = 30;
const NAMING_MS = 2000;
const LONGEST_MS = 20000; // in all
export const HOME = new URL(".", document.currentScript?.src ?? document.baseURI).href;

let ready = null; // the promise of a worker with Python in it
export const isStarted = () => ready !== null;
let lastRun = Promise.resolve(); // the next run begins when this one has ended

/** Mark a code drill; gives the grader's report and what the code printed. */
export function runPython(drill, answer) {
  const { kind, function: name, drive, cases, tolerance, slips, starter } = drill;
  const job = { kind, function: name, drive, cases, tolerance, slips, starter, answer };
  return inTurn(job, kind === "kernel", { silent: SILENT_MS });
}

/**
 * Run a cell of a chapter; gives what stopped it, and what it printed. `stopper` is given
 * a function that ends the run.
 */
export function runCell(cell, modules, stopper) {
  const kernel = [cell.text, ...cell.above.map(({ text }) => text)]
    .join()
    .includes("cuda");
  return inTurn({ cell }, kernel, { silent: LONGEST_MS, modules, stopper });
}

function inTurn(...run) {
  lastRun = lastRun.then(() => runNow(...run));
  return lastRun;
}

async function runNow(job, kernel, { silent, stopper, modules: more = {} }) {
  let worker, modules;
  try {
    ready ??= startPython();
    worker = await ready;
    modules = {
      ...globalThis.livepagePython.graders,
      ...more,
      ...(kernel ? await simulator() : {}),
    };
  } catch (error) {
    ready = null;
    const slots = { value: error.message };
    return { passed: false, fault: "noPython", word: "noPython", slots, case: null };
  }
  const sources = globalThis.livepagePython.interpreters;
  const whole = { ...job, modules, sources };
  const report = await converse(worker, whole, silent, stopper);
  worker.terminate();
  ready = startPython();
  ready.catch(() => {
    ready = null;
  });
  return report;
}

/** Send a job and listen until the report comes, or the worker has to be ended. */
function converse(worker, job, silent, stopper) {
  return new Promise((resolve) => {
    const printed = { start: "", case: "", omitted: 0 };
    let current = null; // the number of the case that runs
    let launched = null; // how the case was launched, if it is of a kernel
    let first = null; // the report of the first failure, before its mistake has a name
    const begun = performance.now();
    let timers = [];

    const rest = () => timers.forEach(clearTimeout);
    const begin = () => {
      rest();
      const silence = job.cell ? LONGEST_MS : STARTING_MS;
      timers = [stopAfter(silence, "silent"), stopAfter(LONGEST_MS, "tooLong")];
    };
    const finish = (report) => {
      rest();
      removeEventListener("pagehide", rest);
      removeEventListener("pageshow", begin);
      worker.onmessage = null;
      const { start, omitted } = printed;
      resolve({ ...report, printed: start + printed.case, omitted });
    };
    const stop = (fault) =>
      finish(first ?? { passed: false, case: current, launched, rows: [], ...fault });
    const stopAfter = (limit, word) => {
      const ms = patience(limit);
      return setTimeout(() => stop({ fault: word, word, slots: { n: ms / 1000 } }), ms);
    };
    const waitAnother = (ms) => {
      clearTimeout(timers[0]);
      timers[0] = stopAfter(ms, "silent");
    };
    const listen = () => {
      if (!first) waitAnother(silent);
    };
    const heard = {
      report: finish,
      error: (value) =>
        stop({ fault: "raised", type: "Error", value, word: "crashed", slots: {} }),
      print: (text) => {
        printed[current === null ? "start" : "case"] += text;
      },
      omitted: (count) => {
        printed.omitted = count;
      },
      first: (report) => {
        first = report;
        const took = performance.now() - begun;
        waitAnother(Math.max(NAMING_MS, NAMING_TIMES * took));
      },
      case: (index) => {
        Object.assign(printed, { case: "", omitted: 0 });
        current = index;
        listen();
      },
      launched: (how) => {
        launched = how;
      },
      alive: listen,
    };
    worker.onmessage = ({ data }) => {
      for (const [what, value] of Object.entries(data)) heard[what](value);
    };
    begin();
    // A page that the reader leaves may sleep until they come back, and the worker with it.
    addEventListener("pagehide", rest);
    addEventListener("pageshow", begin);
    stopper?.(() => stop({ fault: "stopped", word: "stopped", slots: {} }));
    worker.postMessage(job);
  });
}

/** A worker with a Python that nobody else uses, and the files that mark a kernel there. */
export async function openPython() {
  const files = await simulator();
  const worker = await startPython();
  return { worker, simulator: { ...globalThis.livepagePython.graders, ...files } };
}

async function startPython() {
  await loadScript(`${HOME}micropython.js`, () => globalThis.livepagePython);
  const { loader, wasm, worker: workerSource } = globalThis.livepagePython;
  const bytes = Uint8Array.from(atob(wasm), (c) => c.charCodeAt(0)).buffer;
  const source = new Blob([loader, workerSource], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(source));
  await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) =>
      data.ready ? resolve() : reject(new Error(data.error));
    worker.onerror = (event) => reject(new Error(event.message || "worker"));
    worker.postMessage({ wasm: bytes }, [bytes]);
  });
  return worker;
}

/** The files of the block simulator: fetched with the first kernel. */
async function simulator() {
  await loadScript(`${HOME}simulator.js`, () => globalThis.livepageSimulator);
  return globalThis.livepageSimulator;
}

const coming = new Map(); // address → the promise of its script

/**
 * Fetch a script, once for all who ask meanwhile. `left` gives what it leaves behind: what
 * is there already is not fetched, and a script that leaves nothing has failed.
 */
export async function loadScript(address, left) {
  if (left()) return;
  const over = () => coming.delete(address);
  if (!coming.has(address)) coming.set(address, append(address).finally(over));
  await coming.get(address);
  if (!left()) throw new Error(address);
}

function append(address) {
  const script = document.createElement("script");
  script.src = address;
  return attach(script, address);
}

const styles = new Map(); // address → the promise of its style sheet

/** Fetch a style sheet, once. */
export function loadStyle(address) {
  if (!styles.has(address)) styles.set(address, appendStyle(address));
  return styles.get(address);
}

function appendStyle(address) {
  const link = document.createElement("link");
  Object.assign(link, { rel: "stylesheet", href: address });
  return attach(link, address).catch((error) => {
    styles.delete(address);
    link.remove();
    throw error;
  });
}

/** Add an element to the page's head; gives the promise that it is loaded. */
function attach(element, address) {
  return new Promise((resolve, reject) => {
    element.onload = resolve;
    element.onerror = () => reject(new Error(address));
    document.head.append(element);
  });
}
