// A check box.

import { box, input, labelled, span } from "../../host/html.mjs";

export const html = (control, words) =>
  box("label", control, "os-toggle", input("checkbox"), span(labelled(control, words)));

export function wake(element, { name }, live) {
  const tick = element.querySelector("input");
  tick.onchange = () => live.set({ [name]: tick.checked }, true);
  return () => {
    tick.checked = live.state[name];
  };
}

export const fit = (_control, value) => Boolean(value);
export const read = (_control, text) => ({ true: true, false: false })[text];
