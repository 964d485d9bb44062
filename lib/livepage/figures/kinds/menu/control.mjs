// A menu of values, for more of them than fit side by side.

import * as choice from "../choice/control.mjs";
import { box, element, labelled, span } from "../../host/html.mjs";
import { escape } from "../../host/text.mjs";

export function html(control, words) {
  const option = (value, i) =>
    element("option", { value: i }, escape(words.choices?.[value] ?? value));
  const menu = element("select", {}, ...control.of.map(option));
  return box("label", control, "os-menu", span(labelled(control, words)), menu);
}

export function wake(element, { name, of }, live) {
  const menu = element.querySelector("select");
  menu.onchange = () => live.set({ [name]: of[menu.value] }, true);
  return () => {
    menu.value = of.indexOf(live.state[name]);
  };
}

export const fit = choice.fit;
export const read = choice.read;
