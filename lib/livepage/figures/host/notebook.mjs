// In a live notebook: the same figure, its controls tied to the traits of a widget.
//
// What the model says is shown and never sent back. When a cell sets three traits, they
// reach the browser one after the other; answers to the first would hold two old values,
// and the kernel would read them when the cell is over. So only what the reader does is
// written to the traits. Where the figure cannot show what it was asked for, such as a
// step beyond the end, what it shows goes into the trait `_fit`, together with what was
// asked. The kernel takes it if it still asks for the same.

import { same } from "./address.mjs";
import { spoken } from "./frame.mjs";
import * as given from "./given.mjs";
import { Live } from "./live.mjs";
import "./loaded.mjs"; // for figures that would load something

/** The `render` an anywidget wants, for one figure. */
export const widget = (make) => ({ render: (context) => render(context, make) });

function render({ model, el }, make) {
  const host = document.createElement("figure");
  host.className = "os-figure";
  el.append(host);
  const language = document.documentElement.lang.slice(0, 2);
  const figure = spoken(make(given), language, model.get("asks"));
  const names = figure.spec.controls.map(({ name }) => name);
  const traits = () => Object.fromEntries(names.map((name) => [name, model.get(name)]));
  const live = new Live(host, model.get("name"), figure, traits());
  const untie = tie(live, model, names, traits);
  const keys = keepKeys(host);
  const hear = (run) => live.hearOf(run);
  if (figure.hear) model.on("msg:custom", hear);
  return () => {
    untie();
    model.off("msg:custom", hear);
    keys.disconnect();
    live.leave();
  };
}

/** Keep a figure and a model in step; returns what stops that. */
function tie(live, model, names, traits) {
  const differing = () =>
    Object.entries(live.state).filter(([name, now]) => !same(now, model.get(name)));
  const report = () => {
    const shown = Object.fromEntries(differing());
    const fit = Object.keys(shown).length > 0 ? { asked: traits(), shown } : {};
    if (JSON.stringify(fit) === JSON.stringify(model.get("_fit") ?? {})) return;
    model.set("_fit", fit);
    model.save_changes();
  };
  const oneWay = alone();
  const writeTraits = oneWay(() => {
    for (const [name, now] of differing()) model.set(name, worded(now));
    model.save_changes();
  });
  const readTraits = oneWay(() => {
    live.set(traits(), true);
    queueMicrotask(report); // once all of a change has come, not between two traits
  });
  const stopListening = live.on(() => {
    writeTraits();
    readTraits(); // a trait that is linked to another may have changed meanwhile
  });
  for (const name of names) model.on(`change:${name}`, readTraits);
  readTraits();
  return () => {
    stopListening();
    for (const name of names) model.off(`change:${name}`, readTraits);
  };
}

/** Returns a wrapper for functions, none of which then runs while another one does. */
function alone() {
  let busy = false;
  return (act) => () => {
    if (busy) return;
    busy = true;
    try {
      act();
    } finally {
      busy = false;
    }
  };
}

/** Infinities travel as words, because JSON has none. */
const worded = (value) =>
  Array.isArray(value) ? value.map((x) => (Number.isFinite(x) ? x : `${x}`)) : value;

/** JupyterLab takes every key, even arrows, unless the focused element forbids it. */
function keepKeys(host) {
  const claim = () => {
    for (const part of host.querySelectorAll("input, button, [tabindex]"))
      part.dataset.lmSuppressShortcuts = "true";
  };
  claim();
  const later = new MutationObserver(claim);
  later.observe(host, { childList: true, subtree: true });
  return later;
}
