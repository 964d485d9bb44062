// Python on the page: fetched on the first run, kept for the next, ended when it hangs.

const SILENT_MS = 2000; // without a sign of life
const LONGEST_MS = 20000; // in all
const HEARTBEAT_MS = 100;
const HOME = new URL(".", document.currentScript?.src ?? document.baseURI).href;

let ready = null; // the promise of a worker with Python in it
let turn = Promise.resolve(); // one run after the other

/** Mark a code drill; gives the grader's report and what the code printed. */
function runPython(drill, answer) {
  turn = turn.then(() => runNow(drill, answer));
  return turn;
}

async function runNow(payload, answer) {
  const { kind, function: name, drive, cases, tolerance } = payload;
  let worker, modules;
  try {
    ready ??= startPython();
    worker = await ready;
    modules = { ...GRADER, ...(kind === "kernel" ? await simulator() : {}) };
  } catch (error) {
    ready = null;
    return { passed: false, fault: "noPython", value: error.message, case: null };
  }
  const job = { kind, modules, answer, function: name, drive, cases, tolerance };
  return converse(worker, { ...job, heartbeat: HEARTBEAT_MS });
}

/** Send a job and listen until the report comes, or the worker has to be ended. */
function converse(worker, job) {
  return new Promise((resolve) => {
    const printed = { start: [], case: [] };
    let at = null;
    let silence = null;

    const finish = (report) => {
      clearTimeout(silence);
      clearTimeout(limit);
      worker.onmessage = null;
      resolve({ ...report, printed: [...printed.start, ...printed.case] });
    };
    const stop = (fault) => {
      worker.terminate();
      ready = null;
      finish({ passed: false, case: at, rows: [], ...fault });
    };
    const stopAfter = (ms, fault) =>
      setTimeout(() => stop({ fault, value: ms / 1000 }), ms);
    const listen = () => {
      clearTimeout(silence);
      silence = stopAfter(SILENT_MS, "silent");
    };
    const limit = stopAfter(LONGEST_MS, "tooLong");

    worker.onmessage = ({ data }) => {
      if (data.report) return finish(data.report);
      if (data.error) {
        return stop({ fault: "raised", type: "Error", value: data.error });
      }
      if ("print" in data) {
        return (at === null ? printed.start : printed.case).push(data.print);
      }
      if (data.case !== at) printed.case = [];
      at = data.case;
      return listen();
    };
    listen();
    worker.postMessage(job);
  });
}

async function startPython() {
  if (!globalThis.onlineSoftmaxPython) await loadScript(`${HOME}micropython.js`);
  const { loader, wasm } = globalThis.onlineSoftmaxPython;
  const bytes = Uint8Array.from(atob(wasm), (c) => c.charCodeAt(0)).buffer;
  const source = new Blob([WORKER], { type: "text/javascript" });
  const worker = new Worker(URL.createObjectURL(source));
  await new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) =>
      data.ready ? resolve() : reject(new Error(data.error));
    worker.onerror = (event) => reject(new Error(event.message || "worker"));
    worker.postMessage({ loader, wasm: bytes }, [bytes]);
  });
  return worker;
}

/** The files of the block simulator: fetched with the first kernel. */
async function simulator() {
  if (!globalThis.onlineSoftmaxSimulator) await loadScript(`${HOME}simulator.js`);
  return globalThis.onlineSoftmaxSimulator;
}

function loadScript(address) {
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = resolve;
    script.onerror = () => reject(new Error(address));
    document.head.append(script);
  });
}
