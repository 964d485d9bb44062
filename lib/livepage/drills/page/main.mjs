// The script of all drills: starts whatever of them a page has.

import { Deck } from "./deck.mjs";
import { PageDrill } from "./drill.mjs";
import { preparePanel } from "./progress.mjs";
import { followChanges } from "./store.mjs";

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
for (const panel of document.querySelectorAll(".os-progress")) preparePanel(panel);
for (const element of document.querySelectorAll(".os-deck")) new Deck(element).wake();
followChanges();
prepareForPrint();
