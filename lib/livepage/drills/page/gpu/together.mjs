// A kernel on the reader's GPU, with several lists of arguments at once.

import { Launch } from "./launch.mjs";
import { prepare } from "./translator.mjs";

/** Launch it with each list, all of the same shapes; give what each launch wrote. */
export async function launchAll({ gpu, translator }, kernel, grid, lists) {
  const values = lists[0].map(({ shape, value }) => shape ?? value);
  const asked = { launch: grid, arguments: values, of: kernel.made.key };
  const header = await translator.ask(asked);
  const launch = (args) => launchOne(gpu, kernel, header, grid, args);
  const found = await Promise.all(lists.map(launch));
  if (found.every(({ inStep }) => inStep)) return found.map(({ arrays }) => arrays);
  // Its threads do not sit in subgroups in their order: shuffles go through memory.
  Object.assign(kernel, await prepare(gpu, translator, kernel.job, 0));
  return launchAll({ gpu, translator }, kernel, grid, lists);
}

async function launchOne(gpu, kernel, header, [x, y = 1], args) {
  const given = args.filter(({ data }) => data);
  const launch = await Launch.open(gpu, kernel, header, given);
  await launch.run(x * y);
  const results = await launch.results();
  launch.close();
  return results;
}
