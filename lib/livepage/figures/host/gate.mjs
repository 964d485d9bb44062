// Predict, then reveal: controls stay locked until the reader has answered or skipped.

import * as kinds from "livepage/kinds";

import { calm } from "./motion.mjs";
import { bringIntoSight, fold } from "./sight.mjs";
import { marked } from "./text.mjs";

/** Wakes the question; calls `unlock()` once, on the first answer or on Skip. */
export function gate(root, live, unlock) {
  const box = root.querySelector(".os-question");
  if (!box) {
    showEvidence(live);
    return unlock();
  }
  lock(root, true);
  const lead = (event) => leadToQuestion(root, box, event);
  root.addEventListener("pointerdown", lead);
  const open = once(() => {
    root.removeEventListener("pointerdown", lead);
    box.classList.remove("os-asked");
    lock(root, false);
    showEvidence(live);
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

/** Who tries a control that is still locked is shown what comes first. */
function leadToQuestion(root, box, { clientX: x, clientY: y }) {
  const holds = (part) => {
    const { left, right, top, bottom } = part.getBoundingClientRect();
    return left <= x && x <= right && top <= y && y <= bottom;
  };
  if (![...root.querySelectorAll(".os-locked")].some(holds)) return;
  box.classList.add("os-asked");
  box.scrollIntoView({ block: "nearest", behavior: calm() ? "instant" : "smooth" });
}

function lock(root, locked) {
  for (const part of root.querySelectorAll(".os-locked")) part.inert = locked;
  root.classList.toggle("os-waiting", locked);
}

/** From now on, and after a reset too, the figure shows what settles its question. */
function showEvidence(live) {
  const parts = live.spec.controls.filter(({ kind }) => kinds[kind].answers);
  if (parts.length === 0) return;
  const shown = Object.fromEntries(parts.map(({ name }) => [name, true]));
  live.opening = { ...live.opening, ...shown };
  live.set(shown, true);
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
  box.querySelector(".os-skip").hidden = true;
  offer(box, live, chosen);
}

/** "Show me" takes the figure to the state that settles the question; where that folds
 *  the question away, "Why?" brings it back. */
function offer(box, { spec, set, at }, chosen) {
  const [show, why] = box.querySelectorAll(".os-settle button");
  show.hidden = false;
  show.onclick = () => {
    set(spec.prediction.shown_by[chosen], true);
    bringIntoSight(box, at.stage);
  };
  why.onclick = () => {
    fold(box, false);
    show.focus();
  };
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
