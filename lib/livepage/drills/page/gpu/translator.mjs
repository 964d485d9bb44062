// The translator: a Python of its own that writes kernels in WGSL, in a worker.

import { openPython } from "livepage/drills/page";
import { modules, translatorSource } from "livepage/gpu";

import { Trouble, unless } from "./trouble.mjs";

const SILENT_MS = 20000;

export class Translator {
  static async open(signal) {
    const opened = openPython().catch(() => {
      throw new Trouble("noTranslator");
    });
    const end = ({ worker }) => worker.terminate();
    const { worker, simulator } = await unless(signal, opened, end);
    return new Translator(worker, { ...simulator, ...modules }, signal);
  }

  constructor(worker, files, signal) {
    Object.assign(this, { worker, signal });
    this.first = { modules: files, source: translatorSource, name: "translator" };
  }

  /** Ask it one thing; it answers one question after the other. */
  async ask(asked) {
    let timer;
    const answer = new Promise((resolve, reject) => {
      const fail = () => reject(new Trouble("noTranslator"));
      timer = setTimeout(fail, SILENT_MS);
      this.worker.onerror = fail;
      this.worker.onmessage = ({ data }) => {
        if (data.error) fail();
        else if (data.answer) resolve(JSON.parse(data.answer));
      };
    });
    this.worker.postMessage({ ask: JSON.stringify(asked), ...this.first });
    this.first = {};
    try {
      return await unless(this.signal, answer);
    } finally {
      clearTimeout(timer);
    }
  }

  close() {
    this.worker.terminate();
  }
}

/**
 * Translate and compile a kernel for a device. Where a number in shared memory decides
 * who comes to a barrier, it is translated again with that line read once for all.
 */
export async function prepare(gpu, translator, job, subgroup = gpu.subgroup) {
  const uniform = [];
  for (;;) {
    const { made, refused } = await translator.ask({ ...job, subgroup, uniform });
    if (refused) throw untranslatable(refused);
    const unfit = gpu.refuses(made);
    if (unfit) throw new Trouble(unfit.word, unfit.slots, { wgsl: made.wgsl });
    const { said, ...compiled } = await gpu.compile(made);
    if (compiled.pipeline) return { made, job, ...compiled };
    const [fault, ...more] = await translator.ask({ explain: said, of: made.key });
    const lines = [fault, ...more].map(({ shared }) => shared);
    const fresh = lines.filter((line) => line && !uniform.includes(line));
    if (!fresh.length) throw compilerSays(fault, made.wgsl);
    uniform.push(...fresh);
  }
}

function untranslatable(refused) {
  const word = refused.instead ? "untranslatableInstead" : "untranslatable";
  return new Trouble(word, refused, refused);
}

function compilerSays({ kind, line, cause, text }, wgsl) {
  const at = { line, wgsl };
  if (kind !== "barrier") {
    return new Trouble(line ? "wrongAt" : "wrong", { line, text }, at);
  }
  return new Trouble(cause ? "barrierCause" : "barrier", { line, cause }, at);
}
