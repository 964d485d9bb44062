// Runs in a worker: MicroPython, the grader, and the reader's code. It can be ended at
// any moment, and is, when it falls silent.

let python = null;
let job = { lines: 0, case: null, last: 0 };

const MOST_LINES = 200; // a print in an endless loop must not fill the page's memory

onmessage = async ({ data }) => {
  try {
    postMessage(data.wasm ? await boot(data) : run(data));
  } catch (error) {
    postMessage({ error: String(error.message ?? error) });
  }
};

async function boot({ loader, wasm }) {
  // The page's policy allows no request, so the loader is given what it asks for.
  const packed = new Blob([wasm]).stream();
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  self.fetch = async () =>
    new Response(unpacked, { headers: { "Content-Type": "application/wasm" } });
  const source = new Blob([loader], { type: "text/javascript" });
  const { loadMicroPython } = await import(URL.createObjectURL(source));
  python = await loadMicroPython({
    url: "micropython.wasm", heapsize: 8 * 1024 * 1024, stdout: print, stderr: print,
  });
  python.registerJsModule("page", { beat });
  python.FS.mkdir("/lib");
  return { ready: true };
}

function run({ modules, answer, cases, heartbeat, ...drill }) {
  job = { lines: 0, case: null, last: 0, heartbeat };
  for (const [name, source] of Object.entries(modules)) lay(name, source);
  python.globals.set("job", JSON.stringify({ ...drill, answer, cases }));
  python.runPython(`
import gc, json, page
gc.collect()
job = json.loads(job)
asked = [job["answer"], job["function"], job["cases"], job["tolerance"], page.beat]
if job["kind"] == "kernel":
    from onlinesoftmax.drills import kernel_grader as marks
else:
    from onlinesoftmax.drills import grader as marks
    asked.insert(2, job["drive"])
report = json.dumps(marks.run(*asked))
`);
  return { report: JSON.parse(python.globals.get("report")) };
}

/** Lay a module where Python looks for it, once; its folders come before it. */
function lay(name, source) {
  const parts = name.split("/");
  for (let n = 1; n < parts.length; n += 1) {
    const folder = `/lib/${parts.slice(0, n).join("/")}`;
    if (!python.FS.analyzePath(folder).exists) python.FS.mkdir(folder);
  }
  python.FS.writeFile(`/lib/${name}.py`, source);
}

/** A sign of life: at every new case, else at most once every `heartbeat` ms. */
function beat(place) {
  const now = Date.now();
  if (place === job.case && now - job.last < job.heartbeat) return;
  if (place !== job.case) job.lines = 0;
  Object.assign(job, { case: place, last: now });
  postMessage({ case: place });
}

function print(line) {
  job.lines += 1;
  if (job.lines <= MOST_LINES) postMessage({ print: line });
}
