// Prev, Play, Next and a slider, under the picture. How many steps there are, is one of
// the figure's numbers. The drawing may name steps with data-step: a click on one goes
// there, and the arrow keys go on from it.

import { button, div, element, input, labelled, span } from "../../host/html.mjs";
import { bounded, fillBar, leap } from "../../host/inputs.mjs";
import { fill } from "../../host/text.mjs";

const HASTE = 150; // ms; steps that follow each other faster are not animated

export const below = true;

export function html(control, words, ui) {
  const go = (where, text = ui[where]) => button(text, { "data-go": where });
  const slider = input("range", { min: 0, max: 1, step: 1, value: 0 });
  const name = span(labelled(control, words), { class: "os-unseen" });
  return div(
    { class: "os-steps os-locked", "data-control": control.name },
    go("back"),
    go("play", words.play ?? ui.play),
    go("next"),
    element("label", {}, name, slider),
    element("output", {}),
  );
}

export function wake(box, { name }, live) {
  const slide = box.querySelector("input");
  const [back, play, forth] = box.querySelectorAll("button");
  let moved = -HASTE;
  const go = (to, moving = true) => {
    live.stop();
    live.set({ [name]: to }, moving);
  };
  back.onclick = () => go(live.state[name] - 1);
  forth.onclick = () => go(live.state[name] + 1);
  play.onclick = () => (live.playing ? live.stop() : live.play(name));
  slide.oninput = ({ timeStamp: now }) => {
    go(Number(slide.value), now - moved > HASTE);
    moved = now;
  };
  live.at.stage.addEventListener("click", ({ target }) => {
    const named = target.closest("[data-step]");
    if (!named || live.locked) return;
    go(Number(named.dataset.step));
    slide.focus({ preventScroll: true });
  });
  slide.onkeydown = (event) => leap(event, slide, () => slide.oninput(event));
  return () => {
    const [at, end] = [live.state[name], live.numbers.steps];
    slide.max = end;
    slide.value = at;
    fillBar(slide, 0, Math.max(1, end), at);
    const words = fill(live.ui.position, { at, end });
    slide.setAttribute("aria-valuetext", words);
    box.querySelector("output").textContent = words;
    const next = live.playing ? "pause" : "play";
    play.textContent = live.words[next] ?? live.ui[next];
    back.setAttribute("aria-disabled", at === 0);
    forth.setAttribute("aria-disabled", at === end);
  };
}

export const fit = (control, value) => bounded(control, value);
export const read = fit;
export const last = ({ steps }) => steps;
