// Whether the reader has read the page: once the end of each of its sections has stood in
// view for a moment, today or earlier. The reader can say otherwise.

import { pages } from "./pages.mjs";
import { button } from "./progress.mjs";
import { today } from "./record.mjs";
import { drawParts } from "./sittings.mjs";
import { tellOfChanges } from "./store.mjs";
import { make, wordsFor } from "./words.mjs";

const LOOK_MS = 1000; // an end that is in view at two looks was not just flung past

/** Say in the panel whether its page is read, and follow the reading of it. */
export function prepareReading(panel) {
  const { page } = panel.dataset;
  if (!page) return;
  panel.querySelector(".os-drill-label").after(readingLine(wordsFor(panel), page));
  follow(page);
}

/** The line about this page, and the button that changes it. */
function readingLine(word, page) {
  const line = make("p", { class: "os-progress-read" });
  const set = (entry) => {
    pages.put(page, entry);
    tellOfChanges();
    line.querySelector("button").focus();
  };
  const draw = () => {
    const read = pages.isRead(page);
    if (line.dataset.read === String(read)) return;
    line.dataset.read = read;
    const change = read
      ? button(word("markUnread"), () => set({ seen: [] }))
      : button(word("markRead"), () => set({ read: today() }));
    line.replaceChildren(word(read ? "pageRead" : "pageUnread"), " ", change);
  };
  draw();
  document.addEventListener("os-drills-changed", draw);
  return line;
}

/** Look, now and then, which sections end in view. */
function follow(page) {
  // The list of sources is there to be looked up, not to be read.
  const sections = [...document.querySelectorAll("article > section > section[id]")];
  const read = sections.filter((section) => !section.querySelector(".sources"));
  const ids = read.map(({ id }) => id);
  let before = [];
  const look = () => {
    const now = read.filter(endsInView).map(({ id }) => id);
    const stood = now.filter((id) => before.includes(id));
    before = now;
    if (stood.length) note(page, stood, ids);
  };
  if (ids.length) setInterval(look, LOOK_MS);
}

function note(page, stood, ids) {
  const { read, seen = [] } = pages.get(page);
  if (read || stood.every((id) => seen.includes(id))) return;
  pages.see(page, stood, ids);
  if (pages.isRead(page)) tellOfChanges();
  else drawParts();
}

function endsInView(section) {
  if (document.visibilityState !== "visible") return false;
  const { bottom } = section.getBoundingClientRect();
  return bottom > 0 && bottom < innerHeight + 2; // pixels may be parts of one
}
