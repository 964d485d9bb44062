// The page's worker in Node: answers in, reports out. As in the browser each answer
// has two fresh MicroPythons; only their start is written again here.

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

async function start() {
  const python = await loadMicroPython({
    url: wasm,
    heapsize: 8 * 1024 * 1024,
    pystack: 16 * 1024,
    linebuffer: false,
    stdout: () => {},
    stderr: () => {},
  });
  const names = world.map((name) => [name, globalThis[name]]);
  return { python, world: Object.fromEntries(names) };
}

const parts = ["player", "judge", "postMessage"];
const make = new Function(...parts, `${worker}\nreturn run;`);
const reports = [];
for (const job of jobs) {
  let printed = "";
  const hear = ({ print }) => {
    printed += print ?? "";
  };
  const run = make(await start(), await start(), hear);
  const { report } = run({ ...job, modules, sources });
  delete report.log;
  reports.push({ ...report, printed });
}
console.log(JSON.stringify(reports));
