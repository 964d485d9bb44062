// A slider and a number box, each of which follows the other.

import { box, element, ends, input, labelled, span } from "../../host/html.mjs";
import { applied, bounded, fillBar, leap } from "../../host/inputs.mjs";

export function html(control, words) {
  const from = { ...ends(control), value: `${control.default}` };
  const name = words.controls[control.name];
  return box(
    "div",
    control,
    "os-range",
    element("label", {}, span(labelled(control, words)), input("range", from)),
    input("number", { ...from, "aria-label": name }),
  );
}

export function wake(element, { name, low, high }, live) {
  const [slide, exact] = element.querySelectorAll("input");
  slide.oninput = () => live.set({ [name]: slide.value });
  applied(exact, () => live.set({ [name]: exact.value }, true));
  slide.onkeydown = (event) => leap(event, slide, () => slide.oninput());
  return () => {
    slide.value = exact.value = live.state[name];
    fillBar(slide, low, high, live.state[name]);
  };
}

export const fit = (control, value) => bounded(control, value);
export const read = fit;
