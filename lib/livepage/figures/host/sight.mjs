// After "Show me" the reader sees what changed: the picture, and the verdict beside it.
// On a large window both are in sight already, and nothing moves.

import { calm } from "./motion.mjs";

const EDGE = 32; // CSS px that stay free above the verdict

/** Bring a figure's verdict and picture into the window together; what is in the way
 *  gives way: first the question, then the controls between the two. */
export function bringIntoSight(box, stage) {
  const verdict = box.querySelector(".os-verdict");
  const top = () => verdict.getBoundingClientRect().top;
  const bottom = () => stage.getBoundingClientRect().bottom;
  const seen = () => top() >= 0 && bottom() <= innerHeight;
  const fits = () => bottom() - top() <= innerHeight - EDGE;
  if (seen()) return;
  if (!fits()) fold(box, true);
  if (!fits()) box.before(box.parentElement.querySelector(".os-inputs"));
  const behavior = calm() ? "instant" : "smooth";
  if (!seen()) verdict.scrollIntoView({ block: "start", behavior });
}

/** Of the question one line stays: the verdict, and what opens the rest again. */
export function fold(box, folded) {
  box.classList.toggle("os-folded", folded);
  box.querySelector(".os-why").hidden = !folded;
}
