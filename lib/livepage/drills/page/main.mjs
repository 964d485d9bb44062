// The script of all drills: wakes what a page has of them.

import { Deck } from "./deck.mjs";
import { PageDrill } from "./drill.mjs";
import { preparePanel } from "./progress.mjs";
import { followChanges } from "./store.mjs";

/** On paper the solutions stand open; afterwards they are as they were. */
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
