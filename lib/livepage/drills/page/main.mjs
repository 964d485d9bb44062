// The script of all drills: starts whatever of them a page has.

import { prepareCells } from "../../cells/page/buttons.mjs";
import { show } from "../../numbers.mjs";
import { Deck } from "./deck.mjs";
import { PageDrill } from "./drill.mjs";
import { drawGutter, markLine, prepareEditor } from "./editor.mjs";
import { MARKS, icon } from "./feedback.mjs";
import { Keeper } from "./keeper.mjs";
import { patience } from "./patience.mjs";
import { button, preparePanel } from "./progress.mjs";
import { isStarted, openPython, runCell, runPython } from "./python.mjs";
import { prepareReading } from "./reading.mjs";
import { inLanguage, translate } from "./said.mjs";
import { prepareParts } from "./sittings.mjs";
import { followChanges, store } from "./store.mjs";
import { prepareUse } from "./use.mjs";
import { inEnglish, make, marked, sentence, wordsFor } from "./words.mjs";

/** Open all solutions for printing, and close them again afterwards. */
function prepareForPrint() {
  const folded = () => document.querySelectorAll(".os-drill-solution:not([open])");
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...folded()];
    for (const solution of opened) solution.open = true;
  });
  addEventListener("afterprint", () => {
    for (const solution of opened) solution.open = false;
  });
}

for (const section of document.querySelectorAll(".os-drill[data-kind]")) {
  try {
    new PageDrill(section).wake();
  } catch (error) {
    console.error(`drill ${section.dataset.drill}: ${error.message}`);
  }
}
for (const panel of document.querySelectorAll(".os-progress")) {
  preparePanel(panel);
  prepareReading(panel);
}
for (const element of document.querySelectorAll(".os-deck")) new Deck(element).wake();
for (const section of document.querySelectorAll(".os-use")) prepareUse(section);
prepareParts();
followChanges();
prepareForPrint();
// What the scripts behind the cells' buttons and on the GPU share with the drills.
globalThis.livepageDrills = {
  Keeper,
  MARKS,
  button,
  drawGutter,
  icon,
  inEnglish,
  inLanguage,
  isStarted,
  make,
  markLine,
  marked,
  openPython,
  patience,
  prepareEditor,
  runCell,
  runPython,
  sentence,
  show,
  store,
  translate,
  wordsFor,
};
prepareCells();
