// The picture before any script runs, in print and for search engines: the very frame
// and the very drawing the reader will drag, made by V8 while the book is built.

import { frame, spoken } from "./frame.mjs";
import "./given.mjs"; // for the figures
import "./loaded.mjs"; // for those that load something
import { snapshot, stills } from "./stills.mjs";

export function still(figure, changes, language, asks) {
  const one = spoken(figure, language, asks);
  const { spec, words, ui, table, code } = one;
  const defaults = spec.controls.map(({ name, default: value }) => [name, value]);
  const state = { ...Object.fromEntries(defaults), ...changes };
  const { numbers, sentence, wide, narrow } = snapshot(one, state);
  return frame(spec, words, ui, {
    stills: stills(one, state),
    stage: `<div class="os-wide">${wide}</div><div class="os-narrow">${narrow}</div>`,
    sentence,
    code: code?.(state, numbers, words),
    table: table(state, numbers, words),
  });
}
