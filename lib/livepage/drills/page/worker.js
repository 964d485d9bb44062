// What a worker does for one run: it starts two MicroPythons, one with the reader's code
// and one that judges it. The page ends the worker if it sends no sign of life.

const MOST_PRINTED = 10000; // characters: an endless print must not fill the page
const OFTEN_MS = 100;

let player = null;
let judge = null;
let helper = null; // a function of Python's that answers one question after the other
// What the page has been sent: which case runs; when the last sign of life went out, and
// the last count; of what the case prints, how many characters went out and how many not;
// whether the verdict did.
const sent = {
  case: null,
  beatAt: 0,
  countAt: 0,
  printed: 0,
  omitted: 0,
  settled: false,
};

onmessage = async ({ data }) => {
  try {
    if (data.wasm) postMessage(await boot(data));
    else if (data.ask) postMessage({ answer: help(data) });
    else postMessage(data.cell ? runCell(data) : run(data));
  } catch (error) {
    postMessage({ error: String(error.message ?? error) });
  }
};

async function boot({ wasm }) {
  // The page's policy allows no request, so the loader is given what it asks for.
  const packed = new Response(wasm).body; // no blob: WebKit cannot read one on file://
  const unpacked = packed.pipeThrough(new DecompressionStream("gzip"));
  const bytes = await new Response(unpacked).arrayBuffer();
  const headers = { "Content-Type": "application/wasm" };
  self.fetch = async () => new Response(bytes, { headers });
  // The loader would free in one interpreter what the other has let go. A worker runs
  // once, so nothing has to be freed.
  self.FinalizationRegistry = class {
    register() {}
    unregister() {}
  };
  const start = async (write) => {
    const python = await loadMicroPython({
      url: "micropython.wasm",
      heapsize: 8 * 1024 * 1024,
      pystack: 16 * 1024, // words; deeply nested brackets need as many nested calls
      stdout: write,
      stderr: write,
      linebuffer: false,
    });
    return { python, world: world() };
  };
  const decoder = new TextDecoder();
  player = await start((chunk) => {
    const text = decoder.decode(chunk, { stream: true });
    print(text, text.length);
  });
  judge = await start(() => {});
  return { ready: true };
}

// The loader keeps these in globals, as if there were one interpreter only.
const WORLD = [
  "Module",
  "proxy_js_ref",
  "proxy_js_ref_next",
  "proxy_js_ref_map",
  "proxy_js_map",
  "proxy_js_existing",
  "pyProxyFinalizationRegistry",
];
const world = () => Object.fromEntries(WORLD.map((name) => [name, globalThis[name]]));

/** Do something in an interpreter, then come back to the one around it. */
function inside(interpreter, work) {
  const around = world();
  Object.assign(globalThis, interpreter.world);
  try {
    return work(interpreter.python);
  } finally {
    interpreter.world = world();
    Object.assign(globalThis, around);
  }
}

function run({
  modules,
  sources,
  answer,
  starter = "",
  cases,
  slips,
  tolerance,
  ...drill
}) {
  for (const [name, source] of Object.entries(modules)) {
    lay(player.python, name, source);
    lay(judge.python, name, source);
  }
  const [define, play] = inside(player, (python) => {
    const parts = take(python, sources.player, "player")(print, beat);
    return [...parts];
  });
  const asked = JSON.stringify({ ...drill, answer });
  const fault = JSON.parse(inside(player, () => define(asked)));
  if (fault) return { report: { passed: false, case: null, rows: [], ...fault } };
  const given = cases.map(({ args, expected, grid, block, names, lean }) =>
    JSON.stringify({ args, most: expected.length, grid, block, names, lean }),
  );
  const played = (index, how, launched) => {
    begin(index, JSON.parse(launched));
    try {
      return inside(player, () => play(given[index], how));
    } catch (error) {
      return JSON.stringify({ rows: [], fault: broken(error) });
    }
  };
  const settled = (report) => {
    sent.settled = true;
    if (report !== "null") postMessage({ first: JSON.parse(report) });
  };
  const job = JSON.stringify({
    kind: drill.kind,
    answer,
    starter,
    cases,
    slips,
    tolerance,
  });
  const report = inside(judge, (python) =>
    take(python, sources.judge, "judge")(job, played, settled),
  );
  return { report: JSON.parse(report) };
}

/** Run a cell of the page; nothing judges it. */
function runCell({ modules, sources, cell }) {
  for (const [name, source] of Object.entries(modules))
    lay(player.python, name, source);
  const report = inside(player, (python) => {
    const [, , perform] = [...take(python, sources.player, "player")(print, beat)];
    return perform(JSON.stringify(cell));
  });
  return { report: JSON.parse(report) };
}

/** Let a function of Python's answer; what it needs comes with the first question. */
function help({ modules = {}, source, name, ask }) {
  for (const [path, text] of Object.entries(modules)) lay(player.python, path, text);
  return inside(player, (python) => {
    helper ??= take(python, source, name);
    return helper(ask);
  });
}

/** Return a function that a piece of Python defines, and delete its name there. */
function take(python, source, name) {
  python.runPython(source);
  const found = python.globals.get(name);
  python.runPython(`del ${name}`);
  return found;
}

/** The fault of an interpreter that broke down, for which Python has no exception. */
function broken(error) {
  const value = String(error.message ?? error);
  return { fault: "raised", type: "Error", value, word: "crashed", slots: {} };
}

/** Lay a module where Python looks for it; its folders come before it. */
function lay(python, name, source) {
  const parts = ["/lib", ...name.split("/")];
  for (let n = 1; n < parts.length; n += 1) {
    const folder = parts.slice(0, n).join("/");
    if (!python.FS.analyzePath(folder).exists) python.FS.mkdir(folder);
  }
  python.FS.writeFile(`/lib/${name}.py`, source);
}

/** Begin the next case; what it prints is counted anew. */
function begin(index, launched) {
  if (!sent.settled && index !== sent.case) {
    Object.assign(sent, { case: index, printed: 0, omitted: 0 });
    postMessage({ case: index, launched });
  }
  beat();
}

/** A sign of life, not too often. */
function beat() {
  const now = Date.now();
  if (now - sent.beatAt < OFTEN_MS) return;
  sent.beatAt = now;
  postMessage({ alive: true });
}

/** Pass on what the reader's code prints, up to a limit, then count what is omitted. */
function print(text, length) {
  if (sent.settled) return;
  const shown = text.slice(0, MOST_PRINTED - sent.printed);
  sent.printed += shown.length;
  sent.omitted += length - shown.length;
  if (shown) postMessage({ print: shown });
  const now = Date.now();
  if (sent.omitted && (shown || now - sent.countAt > OFTEN_MS)) {
    sent.countAt = now;
    postMessage({ omitted: sent.omitted });
  }
}
