// The parts of the chapters: which of them the reader has done, and which are begun. The
// page has a mark for each part, and a line at the end of each.

import { pages } from "./pages.mjs";
import { store } from "./store.mjs";

// page → its parts in order, each [sections, drills]; the build writes it.
const PARTS = globalThis.bookSittings ?? {};

/** The site's words with their slots filled; only a page with marks needs them. */
export function say(key, slots = {}) {
  const words = JSON.parse(document.getElementById("words").textContent);
  return Object.entries(slots).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, value),
    words[key],
  );
}

/** The parts of a page: "done", "begun" or "open", and how many drills are done of all. */
export function partsOf(page, done = new Set(store.done())) {
  const { read, seen = [] } = pages.get(page);
  return (Object.hasOwn(PARTS, page) ? PARTS[page] : []).map(([sections, drills]) => {
    const passed = drills.filter((id) => done.has(id)).length;
    const isMet = Boolean(read) || sections.some((id) => seen.includes(id));
    const begun = passed || isMet ? "begun" : "open";
    const state = passed === drills.length ? "done" : begun;
    return { state, isRead: Boolean(read), done: passed, all: drills.length };
  });
}

export function drawParts() {
  const done = new Set(store.done());
  for (const marks of document.querySelectorAll(".parts")) {
    drawMarks(marks, partsOf(marks.dataset.page, done));
  }
  for (const line of document.querySelectorAll(".stop")) {
    const { page, part } = line.dataset;
    drawStop(line, partsOf(page, done)[part - 1]);
  }
}

function drawMarks(marks, parts) {
  const count = (state) => parts.filter((part) => part.state === state).length;
  const key = parts.length === 1 ? "parts_one" : "parts";
  const slots = { parts: say(key, { parts: parts.length }) };
  const states = { done: count("done"), begun: count("begun") };
  parts.forEach(({ state }, i) => {
    marks.children[i].dataset.state = state;
  });
  const label = say("parts_state", { ...slots, ...states });
  marks.setAttribute("aria-label", label);
  marks.title = label;
}

/** How far the reader has come with the drills of the part that ends here. */
function drawStop(line, { state, done, all }) {
  const begun = done ? ` ${say("part_begun", { done, all })}` : "";
  const said = state === "done" ? ` ${say("part_done")}` : begun;
  line.querySelector(".stop-said").textContent = said;
}

export function prepareParts() {
  if (!document.querySelector(".parts")) return;
  drawParts();
  document.addEventListener("os-drills-changed", drawParts);
}
