// One of the things in the picture: a menu of them, and the things themselves, to point
// at with a mouse (or, without `hover`, to click) or to tap. The drawing names them with
// data-pick-one, or all cells of a grid at once with data-pick-grid, data-rows and
// data-columns: the key of a cell is the name of its grid, its row, a comma, its column.
// `numbers.items` says which things there are: [{ key, text }]; `choices` may have other
// words for some. The first is shown where the state names none of them.

import { box, element, labelled, span } from "../../host/html.mjs";
import { escape } from "../../host/text.mjs";

export const html = (control, words) =>
  box(
    "label",
    control,
    "os-pick",
    span(labelled(control, words)),
    element("select", {}),
  );

export function wake(box, { name, hover }, live) {
  const menu = box.querySelector("select");
  const pick = (key) => {
    live.root.classList.add("os-picking"); // a style may keep in sight what is said of it
    live.set({ [name]: key });
  };
  menu.onchange = () => pick(menu.value);
  pointable(live, pick, hover);
  const option = ({ key, text }) =>
    element("option", { value: key }, escape(live.words.choices?.[key] ?? text));
  let [listed, written] = [null, ""];
  const list = (items) => {
    listed = items;
    const options = items.map(option).join("");
    if (options !== written) menu.innerHTML = written = options;
  };
  return () => {
    if (live.numbers.items !== listed) list(live.numbers.items);
    menu.value = live.state[name];
    if (menu.selectedIndex < 0) menu.selectedIndex = 0;
  };
}

function pointable(live, pick, hover) {
  const { stage } = live.at;
  const point = (event) => {
    const one = event.target.closest("[data-pick-one], [data-pick-grid]");
    if (one && !live.locked) pick(one.dataset.pickOne ?? cell(one, event));
  };
  stage.addEventListener("click", point);
  stage.addEventListener("pointermove", (event) => {
    if (hover && event.pointerType === "mouse") point(event);
  });
}

/** The key of the cell of a grid that a pointer is at. */
function cell(grid, { clientX, clientY }) {
  const { pickGrid, rows, columns } = grid.dataset;
  const { left, top, width, height } = grid.getBoundingClientRect();
  const at = (share, count) =>
    Math.min(count - 1, Math.max(0, Math.floor(share * count)));
  const row = at((clientY - top) / height, rows);
  return `${pickGrid}${row},${at((clientX - left) / width, columns)}`;
}

export const fit = (_control, key) => String(key);
export const read = fit;
