// A slider and a number box, each of which follows the other.

import {
  box,
  complaint,
  element,
  ends,
  input,
  labelled,
  span,
} from "../../host/html.mjs";
import { bounded, fillBar, leap, numeric } from "../../host/inputs.mjs";

export function html(control, words) {
  const from = { ...ends(control), value: `${control.default}` };
  const name = words.controls[control.name];
  return box(
    "div",
    control,
    "os-range",
    element("label", {}, span(labelled(control, words)), input("range", from)),
    input("number", { ...from, "aria-label": name }),
    complaint,
  );
}

export function wake(element, control, live) {
  const { name, low, high } = control;
  const slide = element.querySelector("input");
  const showExact = numeric(element, control, live, (value) =>
    live.set({ [name]: value }, true),
  );
  slide.oninput = () => live.set({ [name]: slide.value });
  slide.onkeydown = (event) => leap(event, slide, () => slide.oninput());
  return () => {
    slide.value = live.state[name];
    showExact(live.state[name]);
    fillBar(slide, low, high, live.state[name]);
  };
}

export const fit = (control, value) => bounded(control, value);
export const read = fit;
