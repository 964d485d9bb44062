// A figure's pictures as they stand, without a page: one of a state, or several side by
// side where a control names the states that tell its story.

import * as kinds from "livepage/kinds";

import { div, element } from "./html.mjs";
import { marked, plain } from "./text.mjs";

/** The sentence for a state, and its picture wide and narrow; `still` is true of one of
 *  several pictures that tell a story. */
export function snapshot({ words, compute, draw, say, retell }, state, still = false) {
  const numbers = compute(state);
  const tell = (still && retell) || say;
  const sentence = tell(state, numbers, words);
  const view = (wide) => ({ wide, words, title: plain(sentence), was: null, still });
  const picture = (wide) => draw(state, numbers, view(wide));
  return { numbers, sentence, wide: picture(true), narrow: picture(false) };
}

/** The pictures that stand for a figure that moves, each with its sentence. */
export function stills(figure, state) {
  const moments = figure.spec.controls.flatMap(
    (control) => kinds[control.kind].stills?.(control) ?? [],
  );
  const each = (moment) => {
    const { narrow, sentence } = snapshot(figure, { ...state, ...moment }, true);
    return element("figure", {}, narrow, element("figcaption", {}, marked(sentence)));
  };
  return moments.length ? div("os-stage os-stills", ...moments.map(each)) : "";
}
