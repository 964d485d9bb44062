// The parts of a line in a puzzle, as elements.

import { make } from "livepage/drills/page";

const INDENT = 4;
const GRIP = "M5.5 4h0M10.5 4h0M5.5 8h0M10.5 8h0M5.5 12h0M10.5 12h0";
const ARROWS = [
  [-1, "up", "M8 13V3M3.5 7.5 8 3l4.5 4.5"],
  [1, "down", "M8 3v10M3.5 8.5 8 13l4.5-4.5"],
];

/** Each line of a text as a row, which says how far it is indented to those who hear it. */
export function rowsOf(text, word) {
  return text.split("\n").map((line) => {
    const spaces = line.search(/\S|$/);
    const n = Math.round(spaces / INDENT);
    const depth = n ? word(n === 1 ? "depthOne" : "depth", { n }) : "";
    const row = make(
      "span",
      { class: "os-puzzle-row" },
      make("code", {}, line.trim()),
      make("span", { class: "os-puzzle-depth" }, depth && ` (${depth})`),
    );
    row.style.setProperty("--spaces", spaces);
    return row;
  });
}

export function gripOf(icon) {
  return make("span", { class: "os-drill-grip", "aria-hidden": "true" }, icon(GRIP));
}

export function moveButtons(word, icon) {
  const buttons = ARROWS.map(([by, key, path]) =>
    make(
      "button",
      { type: "button", "data-move": String(by), "aria-label": word(key) },
      icon(path),
    ),
  );
  return make("span", { class: "os-drill-moves", hidden: "" }, ...buttons);
}
