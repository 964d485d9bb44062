// Play, Pause and a slider for the time, under the picture; a click on the picture plays
// and pauses too. The time runs with the frames of the browser, and only while it plays.

import { frames } from "../../host/frames.mjs";
import { button, div, element, input, labelled, span } from "../../host/html.mjs";
import { bounded, fillBar, leap } from "../../host/inputs.mjs";
import { fill } from "../../host/text.mjs";

const STEP = 0.1; // s, of the slider

export const below = true;

export function html(control, words, ui) {
  const ends = { min: 0, max: control.seconds, step: STEP, value: control.default };
  const name = span(labelled(control, words), { class: "os-unseen" });
  return div(
    { class: "os-steps os-film os-locked", "data-control": control.name },
    button(ui.play, { "data-go": "play" }),
    element("label", {}, name, input("range", ends)),
    element("output", {}),
  );
}

export function wake(box, { name, seconds }, live) {
  const [slide, play] = [box.querySelector("input"), box.querySelector("button")];
  const toggle = () => {
    if (live.playing) live.stop();
    else live.run(() => roll(name, seconds, live));
  };
  play.onclick = toggle;
  live.at.stage.classList.add("os-screen");
  live.at.stage.onclick = ({ target }) => {
    if (!live.locked && !target.closest("[data-drag]")) toggle();
  };
  slide.oninput = () => {
    const t = slide.value; // before the end of playing sets it back
    live.stop();
    live.set({ [name]: t });
  };
  slide.onkeydown = (event) => leap(event, slide, slide.oninput);
  return () => {
    const t = live.state[name];
    slide.value = t;
    fillBar(slide, 0, seconds, t);
    const words = fill(live.ui.seconds, { at: Math.floor(t), end: seconds });
    slide.setAttribute("aria-valuetext", words);
    box.querySelector("output").textContent = words;
    play.textContent = live.playing ? live.ui.pause : live.ui.play;
  };
}

/** Let the time run on; from the end, it begins again. Returns what ends that. */
function roll(name, seconds, live) {
  if (live.state[name] >= seconds) live.set({ [name]: 0 });
  const from = live.state[name];
  let shown = from;
  return frames((passed) => {
    if (live.state[name] !== shown) return live.stop(); // somebody else has set it
    live.set({ [name]: from + passed });
    shown = live.state[name];
    if (shown >= seconds) live.stop();
  }, live.stop);
}

export const fit = ({ seconds }, value) =>
  bounded({ high: seconds, step: 0.01 }, value);
export const read = fit;
export const stills = ({ name, stills: times }) => times.map((t) => ({ [name]: t }));
