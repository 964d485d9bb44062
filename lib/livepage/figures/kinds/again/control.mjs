// A button that asks for another sample.

import { button } from "../../host/html.mjs";
import { bounded } from "../../host/inputs.mjs";

export const html = ({ name }, words) =>
  button(words.controls[name], { class: "os-control", "data-control": name });

export function wake(element, { name, low, high, when }, live) {
  const next = () => (live.state[name] < high ? live.state[name] + 1 : low);
  const deal = (count) =>
    live.set({ [name]: count, ...live.again?.(count, live.state) }, true);
  element.onclick = () => deal(next());
  return () => {
    element.disabled = Boolean(when) && live.state[when[0]] !== when[1];
  };
}

export const fit = (control, value) => bounded(control, value);
export const read = fit;
