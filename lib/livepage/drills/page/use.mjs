// "With your kernel": what a kernel of a drill is put to. All that runs is fetched then.

import { loadGpu } from "./gpu.mjs";
import { HOME, loadScript } from "./python.mjs";
import { store } from "./store.mjs";

export function prepareUse(section) {
  const { use, drill, figure, loading, missing } = section.dataset;
  const note = section.querySelector(".os-use-note");
  const buttons = [...section.querySelectorAll("[data-way]")];
  let panel = null;
  let isBusy = false;
  const draw = () => {
    const isThere = store.get(drill).code !== undefined;
    section.querySelector(".os-use-own").hidden = !isThere;
    section.querySelector(".os-use-none").hidden = isThere;
    for (const each of buttons) each.setAttribute("aria-disabled", String(isBusy));
  };
  const busy = (now) => {
    isBusy = now;
    draw();
  };
  const press = async ({ dataset }) => {
    if (isBusy) return;
    busy(true); // who presses twice is answered once
    note.textContent = panel ? "" : loading;
    const isLoaded = await load(use, figure).then(
      () => true,
      () => false,
    );
    busy(false);
    note.textContent = isLoaded ? "" : missing;
    if (!isLoaded) return;
    panel ??= globalThis.livepageGpu.use(section, globalThis.livepageUses[use], busy);
    await panel.begin(dataset.way);
  };
  for (const each of buttons) each.addEventListener("click", () => press(each));
  document.addEventListener("os-drills-changed", draw);
  draw();
  section.hidden = false;
}

/** What the figure has loaded is not loaded twice. */
async function load(use, figure) {
  await loadGpu();
  const model = `${HOME}../figures/${figure}-loaded.js`;
  await loadScript(model, () => globalThis.osLoaded?.[figure]);
  await loadScript(`${HOME}uses/${use}.js`, () => globalThis.livepageUses?.[use]);
}
