// The picture before any script runs, in print and for search engines: the very frame
// and the very drawing the reader will drag, made by V8 while the book is built.

import { frame, spoken } from "./frame.mjs";
import "./given.mjs"; // for the figures
import { plain } from "./text.mjs";

export function still(figure, changes, language, asks) {
  const { spec, words, ui, compute, draw, say, table, code } = spoken(
    figure,
    language,
    asks,
  );
  const defaults = spec.controls.map(({ name, default: value }) => [name, value]);
  const state = { ...Object.fromEntries(defaults), ...changes };
  const numbers = compute(state);
  const sentence = say(state, numbers, words);
  const view = (wide) => ({ wide, words, title: plain(sentence), was: null });
  const picture = (wide) => draw(state, numbers, view(wide));
  const [wide, narrow] = [picture(true), picture(false)];
  return frame(spec, words, ui, {
    stage: `<div class="os-wide">${wide}</div><div class="os-narrow">${narrow}</div>`,
    sentence,
    code: code?.(state, numbers, words),
    table: table(state, numbers, words),
  });
}
