// In a live notebook: the same figure, its controls tied to the traits of a widget.

import { spoken } from "./frame.mjs";
import * as kit from "./kit.mjs";
import { Live } from "./live.mjs";

/** The `render` an anywidget wants, for one figure. */
export const widget = (make) => ({ render: (context) => render(context, make) });

function render({ model, el }, make) {
  const host = document.createElement("figure");
  host.className = "os-figure";
  el.append(host);
  const language = document.documentElement.lang.slice(0, 2);
  const figure = spoken(make(kit), language, model.get("asks"));
  const names = figure.spec.controls.map(({ name }) => name);
  const traits = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const live = new Live(host, model.get("name"), figure, traits());
  live.on((state) => {
    for (const name of names) model.set(name, state[name]);
    model.set("state", state);
    model.save_changes();
  });
  const heed = () => live.set(traits(), true);
  for (const name of names) model.on(`change:${name}`, heed);
  return () => {
    for (const name of names) model.off(`change:${name}`, heed);
    live.leave();
  };
}
