// The translator: a Python of its own that writes kernels in WGSL.

import { modules, translatorSource } from "livepage/gpu";

import { Helper } from "./helper.mjs";
import { Trouble } from "./trouble.mjs";

export const openTranslator = (signal) =>
  Helper.open(signal, {
    modules,
    source: translatorSource,
    name: "translator",
    silent: "noTranslator",
  });

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
