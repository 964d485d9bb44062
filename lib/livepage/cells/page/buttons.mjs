// The buttons on code cells. What they do is fetched when the first one is pressed, or at
// once where the reader has changed a cell of this page before.

import { HOME, loadScript } from "../../drills/page/python.mjs";
import { store } from "../../drills/page/store.mjs";
import { make, wordsFor } from "../../drills/page/words.mjs";
import { isRunnable, keyOf, notebook } from "./keys.mjs";

const fetchCells = () => loadScript(`${HOME}cells.js`, () => globalThis.livepageCells);

export function prepareCells() {
  const cells = [...document.querySelectorAll(".cell:has(.code)")];
  const word = wordsFor(document.body);
  const [runnable, others] = [[], []];
  for (const cell of cells) (isRunnable(cell) ? runnable : others).push(cell);
  for (const cell of runnable) addBar(cell, runButtons(cell, word));
  const href = notebook();
  const address = { href, download: "", title: word("inNotebookWhy") };
  const link = () => make("a", address, word("inNotebook"));
  if (runnable.length && href) for (const cell of others) addBar(cell, [link()]);
  const changed = runnable.some((cell) => store.get(keyOf(cell)).code !== undefined);
  if (!changed) return;
  const restore = () => globalThis.livepageCells.restore();
  fetchCells().then(restore, () => {}); // the next press tries again
}

function runButtons(cell, word) {
  const press = (what) => async (event) => {
    if (event.detail > 1) return; // the second click of two would stop what the first began
    try {
      await fetchCells();
    } catch {
      sayNotLoaded(cell, word);
      return;
    }
    globalThis.livepageCells[what](cell);
  };
  return ["edit", "run"].map((what) => {
    const element = make("button", { type: "button", "data-do": what }, word(what));
    element.addEventListener("click", press(what));
    return element;
  });
}

/** Said in the place of a run, until a press of the button loads what was missing. */
function sayNotLoaded(cell, word) {
  const said = make("p", { class: "os-cell-result", role: "status" });
  cell.querySelector(".os-cell-result")?.remove();
  cell.append(said);
  said.textContent = word("notLoaded");
}

/** A bar over a corner of the code, with the button that copies. */
function addBar(cell, parts) {
  const code = cell.querySelector(".code");
  const bar = make("div", { class: "code-bar" }, ...parts);
  const copy = code.querySelector(".copy");
  if (copy) bar.prepend(copy);
  code.append(bar);
}
