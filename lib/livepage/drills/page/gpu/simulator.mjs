// The block simulator, for launches of a kernel that no drill asks for.

import { inLanguage, sentence } from "livepage/drills/page";
import { launcherSource } from "livepage/gpu";

import { flat } from "./compare.mjs";
import { Helper } from "./helper.mjs";
import { Trouble } from "./trouble.mjs";

export const openSimulator = (signal) =>
  Helper.open(signal, {
    source: launcherSource,
    name: "launcher",
    silent: "noSimulator",
  });

/** Give a kernel with the names of a launch, and which of them its text does not say. */
export async function define(simulator, { text, name, names }) {
  const { missing } = await simulator.ask({ text, function: name, names });
  return missing;
}

/** Launch it once for each case; `launched` is called after each. */
export async function simulate(simulator, cases, { drillWord, launched }) {
  const found = [];
  for (const one of cases) {
    const { fault, outs } = await simulator.ask({
      launch: { ...one, args: one.args.map(packed) },
    });
    if (fault) {
      const slots = await inLanguage(drillWord, fault.slots);
      const why = sentence(drillWord, fault.word, slots);
      throw new Trouble("faultHere", { why });
    }
    const numbers = (rows) => Float64Array.from(flat(rows), (x) => x ?? NaN);
    const pairs = Object.entries(outs).map(([name, rows]) => [name, numbers(rows)]);
    found.push(Object.fromEntries(pairs));
    launched();
  }
  return found;
}

/** JSON knows no NaN and no infinity: they come as words, as in a drill's cases. */
const packed = ([name, kind, value]) => [name, kind, words(value)];
const words = (value) => {
  if (Array.isArray(value)) return value.map(words);
  return Number.isFinite(value)
    ? value
    : String(value).toLowerCase().replace("inity", "");
};
