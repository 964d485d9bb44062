// Numbers that the reader changes one at a time.

import { complaint, ends, input, radios, several } from "../../host/html.mjs";
import { bounded, fillBar, leap, numeric } from "../../host/inputs.mjs";

export function html(control, words) {
  const numbers = Array.from({ length: control.most }, (_, i) => i + 1);
  const inputs = ["range", "number"].map((type) => input(type, ends(control)));
  const parts = [radios(numbers, words), ...inputs, complaint];
  return several(control, words, "os-choice os-row", ...parts);
}

/** One slider serves all numbers of the row; it holds the one that was moved last. */
export function wake(box, control, live) {
  const { name, low, high } = control;
  const slide = box.querySelector("[type=range]");
  const exact = box.querySelector("[type=number]");
  const radios = [...box.querySelectorAll("[type=radio]")];
  let [at, shown] = [0, live.state[name]];
  const change = (value, moving) => {
    live.set(
      { [name]: live.state[name].map((old, i) => (i === at ? value : old)) },
      moving,
    );
  };
  const showExact = numeric(box, control, live, (value) => change(value, true));
  const show = () => {
    const list = live.state[name];
    const moved = list.findIndex((value, i) => value !== shown[i]);
    if (moved >= 0 && list.length === shown.length) at = moved;
    at = Math.min(at, list.length - 1);
    shown = list;
    radios.forEach((radio, i) => {
      radio.checked = i === at;
      radio.parentElement.hidden = i >= list.length;
    });
    const legend = box.querySelector("legend").textContent;
    const label = `${legend} ${radios[at].parentElement.textContent}`;
    for (const input of [slide, exact]) input.setAttribute("aria-label", label);
    slide.value = list[at];
    showExact(list[at]);
    fillBar(slide, low, high, list[at]);
  };
  radios.forEach((radio, i) => {
    radio.name = `${live.id}-${name}`;
    radio.onchange = () => {
      at = i;
      show();
    };
  });
  slide.oninput = () => change(slide.value);
  slide.onkeydown = (event) => leap(event, slide, slide.oninput);
  return show;
}

export function fit(control, list) {
  const fitted = list.map((x) => bounded(control, x));
  return 0 < list.length && list.length <= control.most && !fitted.includes(undefined)
    ? fitted
    : undefined;
}

export const read = (control, text) => fit(control, text.split(","));
