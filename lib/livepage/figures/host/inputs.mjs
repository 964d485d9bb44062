// What the inputs of several kinds of controls do alike.

import { fill } from "./text.mjs";

/** A number, or a text of one, within the ends of its control, on one of its steps. An
 *  empty text is none. */
export function bounded({ low = 0, high = Infinity, step = 1 }, given) {
  const value = String(given).trim() ? Number(given) : NaN;
  if (!Number.isFinite(value)) return undefined;
  const whole = Math.round((value - low) / step) * step + low;
  return Math.min(high, Math.max(low, Number(whole.toFixed(9))));
}

/** Colour a slider's bar up to its handle. */
export function fillBar(slide, low, high, value) {
  slide.style.setProperty("--filled", `${(100 * (value - low)) / (high - low)}%`);
}

/** A typed number counts when the field is left, and on Enter, for which a notebook's
 *  cell keeps the browser from firing `change`. Where it does fire, nothing changes. The
 *  Enter of an input method ends its own text only. */
export function applied(exact, apply) {
  exact.onchange = apply;
  exact.onkeydown = ({ key, isComposing }) => {
    if (key === "Enter" && !isComposing) apply();
  };
}

/** A number field. Returns a function that shows a number in the field, except while the
 *  reader types there: a figure that plays or computes goes on meanwhile. What cannot be
 *  taken as it stands is said beside the field. */
export function numeric(box, { low, high }, live, change) {
  const exact = box.querySelector("[type=number]");
  const complaint = box.querySelector(".os-complaint");
  let [taken, isTyping] = [undefined, false];
  const clear = () => (complaint.textContent = "");
  const stop = () => (isTyping = false);
  applied(exact, () => {
    stop();
    const given = exact.value;
    if (given === taken) return; // the browser tells of one change twice
    change(given);
    taken = exact.value;
    const fault = given < low || given > high ? "outside" : "between";
    complaint.textContent =
      !given || Number(given) === Number(taken)
        ? ""
        : fill(live.ui[fault], { given, now: taken, low, high });
  });
  box.addEventListener("input", ({ target }) => {
    isTyping = target === exact;
    taken = undefined;
    clear();
  });
  exact.addEventListener("blur", () => {
    stop();
    live.refresh(); // what was typed may be what stood there before
  });
  live.at.reset.addEventListener("click", () => {
    stop();
    clear();
  });
  return (value) => {
    if (!isTyping) exact.value = value;
  };
}

/** Shift and an arrow go ten steps. */
export function leap(event, slide, changed) {
  const direction = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[
    event.key
  ];
  if (!event.shiftKey || !direction) return;
  event.preventDefault();
  slide.value = Number(slide.value) + direction * 10 * Number(slide.step);
  changed();
}
