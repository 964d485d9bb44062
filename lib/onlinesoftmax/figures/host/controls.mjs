// Wakes the inputs that frame.mjs wrote: each gets `set(changes, moving)` to call and
// returns a function that shows the current state in it.

import { position } from "./frame.mjs";
import { pairs } from "./pick.mjs";

/** All inputs of a figure; gives one function that refreshes them. */
export function wake(root, live) {
  root.querySelectorAll("[data-preset]").forEach((button, i) => {
    button.onclick = () => live.set(live.spec.presets[i], true);
  });
  const refresh = live.spec.controls.flatMap((control) => {
    const box = root.querySelector(`[data-control="${control.name}"]`);
    return box && WAKE[control.kind] ? [WAKE[control.kind](box, control, live)] : [];
  });
  return () => refresh.forEach((show) => show());
}

const HASTE = 150; // ms; who steps faster than this wants to arrive, not to watch

const WAKE = { range, choice, toggle, row, again, step, pairs };

function range(box, { name, low, high }, live) {
  const [slide, exact] = box.querySelectorAll("input");
  slide.oninput = () => live.set({ [name]: slide.value });
  applied(exact, () => live.set({ [name]: exact.value }, true));
  slide.onkeydown = (event) => leap(event, slide, () => slide.oninput());
  return () => {
    slide.value = exact.value = live.state[name];
    slide.style.setProperty(
      "--filled",
      `${(100 * (live.state[name] - low)) / (high - low)}%`,
    );
  };
}

/** A typed number counts when the field is left, and on Enter, for which a notebook's
 *  cell keeps the browser from firing `change`. Where it does fire, nothing changes. */
function applied(exact, apply) {
  exact.onchange = apply;
  exact.onkeydown = ({ key }) => {
    if (key === "Enter") apply();
  };
}

/** Shift and an arrow go ten steps. */
function leap(event, slide, changed) {
  const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!event.shiftKey || !way) return;
  event.preventDefault();
  slide.value = Number(slide.value) + way * 10 * Number(slide.step);
  changed();
}

function choice(box, { name, of }, live) {
  const radios = [...box.querySelectorAll("input")];
  radios.forEach((radio, i) => {
    radio.name = `${live.id}-${name}`;
    radio.onchange = () => live.set({ [name]: of[i] }, true);
  });
  return () =>
    radios.forEach((radio, i) => {
      radio.checked = live.state[name] === of[i];
    });
}

function toggle(box, { name }, live) {
  const input = box.querySelector("input");
  input.onchange = () => live.set({ [name]: input.checked }, true);
  return () => {
    input.checked = live.state[name];
  };
}

/** One slider serves a row of numbers; whichever was moved last is the one it holds. */
function row(box, { name, low, high }, live) {
  const [slide, exact] = [
    box.querySelector("[type=range]"),
    box.querySelector("[type=number]"),
  ];
  const radios = [...box.querySelectorAll("[type=radio]")];
  let [at, shown] = [0, live.state[name]];
  const change = (value, moving) => {
    live.set(
      { [name]: live.state[name].map((old, i) => (i === at ? value : old)) },
      moving,
    );
  };
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
    for (const input of [slide, exact]) {
      input.value = list[at];
      input.setAttribute("aria-label", label);
    }
    slide.style.setProperty("--filled", `${(100 * (list[at] - low)) / (high - low)}%`);
  };
  radios.forEach((radio, i) => {
    radio.name = `${live.id}-${name}`;
    radio.onchange = () => {
      at = i;
      show();
    };
  });
  slide.oninput = () => change(slide.value);
  applied(exact, () => change(exact.value, true));
  slide.onkeydown = (event) => leap(event, slide, slide.oninput);
  return show;
}

function again(button, { name, low, high, when }, live) {
  const next = () => (live.state[name] < high ? live.state[name] + 1 : low);
  const deal = (count) =>
    live.set({ [name]: count, ...live.again?.(count, live.state) }, true);
  button.onclick = () => deal(next());
  return () => {
    button.disabled = Boolean(when) && live.state[when[0]] !== when[1];
  };
}

function step(box, { name }, live) {
  const slide = box.querySelector("input");
  const [back, play, next] = box.querySelectorAll("button");
  let moved = -HASTE;
  const go = (to, moving = true) => {
    live.stop();
    live.set({ [name]: to }, moving);
  };
  back.onclick = () => go(live.state[name] - 1);
  next.onclick = () => go(live.state[name] + 1);
  play.onclick = () => (live.playing ? live.stop() : live.play(name));
  slide.oninput = ({ timeStamp: now }) => {
    go(Number(slide.value), now - moved > HASTE);
    moved = now;
  };
  slide.onkeydown = (event) => leap(event, slide, () => slide.oninput(event));
  return () => {
    const [at, end] = [live.state[name], live.numbers.steps];
    slide.max = end;
    slide.value = at;
    slide.style.setProperty("--filled", `${(100 * at) / Math.max(1, end)}%`);
    const words = position(live.ui, at, end);
    slide.setAttribute("aria-valuetext", words);
    box.querySelector("output").textContent = words;
    play.textContent = live.playing ? live.ui.pause : live.ui.play;
    back.setAttribute("aria-disabled", at === 0);
    next.setAttribute("aria-disabled", at === end);
  };
}
