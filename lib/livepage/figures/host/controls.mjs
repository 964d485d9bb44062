// Wakes the inputs that frame.mjs wrote, each as its kind does.

import * as kinds from "livepage/kinds";

/** All inputs of a figure; gives one function that shows the state in them. */
export function wake(root, live) {
  root.querySelectorAll("[data-preset]").forEach((button, i) => {
    button.onclick = () => live.set(live.spec.presets[i], true);
  });
  const shows = live.spec.controls.flatMap((control) => {
    const box = root.querySelector(`[data-control="${control.name}"]`);
    return box ? [kinds[control.kind].wake(box, control, live)] : [];
  });
  return () => shows.forEach((show) => show());
}
