// Dragging a handle in a picture. The drawing says which control it moves and where
// that control's ends lie, in its own units: data-drag, data-axis, data-low, data-high;
// for a row of numbers also which of them: data-item. The same control always has a
// native input too; the handle is never the only way.

import * as kinds from "livepage/kinds";

export function draggable(stage, live) {
  let held = null;
  // In an SVG the style `touch-action` alone does not keep the page from scrolling.
  const keep = (event) => {
    if (!live.locked && event.target.closest("[data-drag]")) event.preventDefault();
  };
  stage.addEventListener("touchstart", keep, { passive: false });
  stage.onpointerdown = (event) => {
    const handle = event.target.closest("[data-drag]");
    if (!handle || live.locked || event.button !== 0) return;
    live.stop();
    held = { handle, off: offset(stage, handle, event) };
    stage.setPointerCapture(event.pointerId);
    stage.classList.add("os-dragging");
    event.preventDefault();
  };
  stage.onpointermove = (event) => {
    // A stage that is laid out anew meanwhile, as when a phone is turned, has another.
    if (held?.handle.isConnected) follow(stage, held, event, live);
  };
  stage.onpointerup = stage.onpointercancel = () => {
    held = null;
    stage.classList.remove("os-dragging");
  };
}

/** Where the pointer is, along the handle's axis, in the drawing's units. */
function along(stage, handle, event) {
  const svg = stage.querySelector("svg");
  const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(
    svg.getScreenCTM().inverse(),
  );
  return handle.dataset.axis === "x" ? at.x : at.y;
}

/** How far off its middle a handle was grabbed: it must not jump there. */
const offset = (stage, handle, event) =>
  along(stage, handle, event) - Number(handle.dataset.place);

function follow(stage, { handle, off }, event, live) {
  const { drag, item, low, high, bend } = handle.dataset;
  const control = live.spec.controls.find((each) => each.name === drag);
  const share =
    (along(stage, handle, event) - off - Number(low)) / (Number(high) - Number(low));
  const steps = kinds[control.kind].last?.(live.numbers);
  const end = steps ?? control.high;
  const from = control.low ?? 0;
  const value = bend
    ? unbent(share, from, end, Number(bend))
    : from + share * (end - from);
  const list = Array.isArray(live.state[drag]) && live.state[drag];
  const wanted = list
    ? list.map((old, i) => (i === Number(item) ? value : old))
    : value;
  live.set({ [drag]: wanted }, steps !== undefined);
}

/** The value at a share of an axis that is drawn as asinh(value / bend). */
function unbent(share, from, end, bend) {
  const [first, last] = [Math.asinh(from / bend), Math.asinh(end / bend)];
  return bend * Math.sinh(first + share * (last - first));
}
