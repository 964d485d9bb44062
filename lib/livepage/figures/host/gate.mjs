// Predict, then reveal: controls stay locked until the reader has answered or skipped.

import { marked } from "./text.mjs";

/** Wakes the question; calls `unlock()` once, on the first answer or on Skip. */
export function gate(root, live, unlock) {
  const box = root.querySelector(".os-question");
  if (!box) return unlock();
  lock(root, true);
  const open = once(() => {
    lock(root, false);
    unlock();
  });
  for (const button of box.querySelectorAll("[data-option]")) {
    button.onclick = () => {
      answer(box, live, Number(button.dataset.option));
      open();
    };
  }
  box.querySelector(".os-skip").onclick = () => {
    open();
    box.hidden = true;
    root.querySelector(".os-inputs input, .os-steps button")?.focus();
  };
}

function lock(root, locked) {
  for (const part of root.querySelectorAll(".os-locked")) part.inert = locked;
  root.classList.toggle("os-waiting", locked);
}

function answer(box, live, chosen) {
  const { ui, words, spec } = live;
  const right = chosen === spec.prediction.answer;
  box.querySelectorAll("[data-option]").forEach((button, i) => {
    button.className =
      i === spec.prediction.answer ? "right" : i === chosen ? "off" : "";
    button.setAttribute("aria-pressed", i === chosen);
  });
  const verdict = box.querySelector(".os-verdict");
  verdict.innerHTML = marked(
    `${right ? ui.yes : words.hints[chosen]} ${words.because}`,
  );
  verdict.dataset.right = right;
  verdict.append(" ", proof(live, chosen));
  box.querySelector(".os-skip").hidden = true;
}

/** A button that takes the figure to the state which settles the question. */
function proof({ ui, spec, set }, chosen) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "os-proof";
  button.textContent = ui.show;
  button.onclick = () => set(spec.prediction.shown_by[chosen], true);
  return button;
}

function once(act) {
  let done = false;
  return () => {
    if (!done) {
      done = true;
      act();
    }
  };
}
