// The page's worker in Node: answers in, reports out. As in the browser each answer
// has two fresh MicroPythons; only their start is written again here. To start takes
// longer than most answers, so it is done once for each kind of drill, and before each
// answer their memory is put back to what it was then.

import { readFileSync } from "node:fs";

const { loader, wasm, worker, world, modules, sources, jobs } = JSON.parse(
  readFileSync(0, "utf8"),
);
const { loadMicroPython } = await import(loader);
globalThis.self = globalThis;
globalThis.FinalizationRegistry = class {
  register() {}
  unregister() {}
};
// The loader hands out an interpreter, and not the memory that it made for it.
const { instantiate } = WebAssembly;
let memory = null;
WebAssembly.instantiate = async (...asked) => {
  const made = await instantiate(...asked);
  const exported = Object.values(made.instance.exports);
  memory = exported.find((each) => each instanceof WebAssembly.Memory);
  return made;
};

const parts = ["player", "judge", "postMessage"];
const make = new Function(...parts, `${worker}\nreturn { run, runCell, lay };`);

// What a run imports before anything else.
const MARKS = {
  code: "import livepage.drills.kinds.code.grader as marks",
  kernel: "import livepage.drills.kinds.kernel.grader as marks; marks.simulator()",
  cell: "import livepage.cells.runner as marks",
};

/** Start an interpreter; give a function that returns it as new, each time. */
async function start(kind) {
  const python = await loadMicroPython({
    url: wasm,
    heapsize: 8 * 1024 * 1024,
    pystack: 16 * 1024,
    linebuffer: false,
    stdout: () => {},
    stderr: () => {},
  });
  const { lay } = make();
  for (const [name, source] of Object.entries(modules[kind])) lay(python, name, source);
  python.runPython(`${MARKS[kind]}\ndel marks`);
  const mine = memory;
  const bytes = new Uint8Array(mine.buffer).slice();
  const names = world.map((name) => [name, globalThis[name]]);
  const globals = copied(Object.fromEntries(names));
  return () => {
    const now = new Uint8Array(mine.buffer);
    now.set(bytes);
    now.fill(0, bytes.length); // it may have grown meanwhile
    return { python, world: copied(globals) };
  };
}

/** Lists and maps among the loader's globals anew; what is in them stays itself. */
function copied(globals) {
  const copy = (value) =>
    Array.isArray(value) ? [...value] : value instanceof Map ? new Map(value) : value;
  const pairs = Object.entries(globals);
  return Object.fromEntries(pairs.map(([name, value]) => [name, copy(value)]));
}

const fresh = {};
const reports = [];
for (const job of jobs) {
  fresh[job.kind] ??= [await start(job.kind), await start(job.kind)];
  let printed = "";
  const hear = ({ print }) => {
    printed += print ?? "";
  };
  const [player, judge] = fresh[job.kind].map((again) => again());
  const { run, runCell } = make(player, judge, hear);
  const perform = job.cell ? runCell : run;
  const { report } = perform({ ...job, modules: {}, sources });
  reports.push({ ...report, printed });
}
console.log(JSON.stringify(reports));
