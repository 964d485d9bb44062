// A radio button for each of a few values.

import { radios, several } from "../../host/html.mjs";

export const html = (control, words) =>
  several(control, words, "os-choice", radios(control.of, words));

export function wake(element, { name, of }, live) {
  const buttons = [...element.querySelectorAll("input")];
  buttons.forEach((radio, i) => {
    radio.name = `${live.id}-${name}`;
    radio.onchange = () => live.set({ [name]: of[i] }, true);
  });
  return () =>
    buttons.forEach((radio, i) => {
      radio.checked = live.state[name] === of[i];
    });
}

export const fit = ({ of }, value) => (of.includes(value) ? value : undefined);
export const read = ({ of }, text) => of.find((value) => String(value) === text);
