// One of the things in the picture: a menu of them, and the things themselves, to point
// at with a mouse (or, without `hover`, to click) or to tap. The drawing names them with data-pick-one, and `numbers.items`
// says which there are: [{ key, text }]; `choices` may have other words for some. The
// first is shown where the state names none of them.

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
  let written = "";
  return () => {
    const options = live.numbers.items.map(option).join("");
    if (options !== written) menu.innerHTML = written = options;
    menu.value = live.state[name];
    if (menu.selectedIndex < 0) menu.selectedIndex = 0;
  };
}

function pointable(live, pick, hover) {
  const { stage } = live.at;
  const point = ({ target }) => {
    const one = target.closest("[data-pick-one]");
    if (one && !live.locked) pick(one.dataset.pickOne);
  };
  stage.addEventListener("click", point);
  stage.addEventListener("pointermove", (event) => {
    if (hover && event.pointerType === "mouse") point(event);
  });
}

export const fit = (_control, key) => String(key);
export const read = fit;
