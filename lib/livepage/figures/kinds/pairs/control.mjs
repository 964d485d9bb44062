// Bringing two things together: a button for each of them, and the same things in the
// picture, to tap or to drag onto each other. The drawing names them with data-pick,
// and `numbers.items` says which there are: [{ key, text }]. The state is the list of
// pairs so far, as text: "AB.CD".

import { button, div, several } from "../../host/html.mjs";

const PAIRS = /^([A-Z]{2}(\.[A-Z]{2})*)?$/;
const FAR = 6; // CSS px; a pointer that moves less has tapped

export const html = (control, words, ui) =>
  several(
    control,
    words,
    "os-pairs",
    div("os-items"),
    button(ui.undo, { class: "os-undo" }),
    button(ui.rest, { class: "os-rest" }),
  );

export const fit = (_control, text) => (PAIRS.test(text) ? text : undefined);
export const read = fit;

export function wake(box, { name }, live) {
  const [list, undo, rest] = ["items", "undo", "rest"].map((part) =>
    box.querySelector(`.os-${part}`),
  );
  const stage = live.at.stage;
  let picked = null;
  const made = () => live.state[name].split(".").filter(Boolean);

  const join = (one, other) => {
    picked = null;
    live.set({ [name]: [...made(), one + other].join(".") }, true);
  };
  const pick = (key) => {
    if (picked && picked !== key) return join(picked, key);
    picked = picked ? null : key;
    show();
  };
  undo.onclick = () => {
    picked = null;
    live.set({ [name]: made().slice(0, -1).join(".") }, true);
  };
  rest.onclick = () => {
    const done = live.numbers.items.length === 1;
    if (done) live.set({ [name]: "" });
    const keys = live.numbers.items.map(({ key }) => key);
    live.set({ [name]: [...made(), ...atRandom(keys)].join(".") }, true);
  };
  list.onclick = ({ target }) => {
    if (target.dataset.key) pick(target.dataset.key);
  };
  tappable(stage, live, pick, join);

  const show = () => {
    const { items } = live.numbers;
    if (!items.some(({ key }) => key === picked)) picked = null;
    const focused = list.contains(document.activeElement);
    list.replaceChildren(...items.map((item) => itemButton(item, picked)));
    undo.setAttribute("aria-disabled", made().length === 0);
    for (const part of stage.querySelectorAll("[data-pick]")) {
      part.classList.toggle("picked", part.dataset.pick === picked);
    }
    if (focused) (list.querySelector("[aria-pressed=true]") ?? list.firstChild).focus();
  };
  return show;
}

/** Pairs that bring all of them together. */
function atRandom(keys) {
  const draw = () => keys.splice(Math.floor(Math.random() * keys.length), 1)[0];
  const made = [];
  while (keys.length > 1) {
    const [one, other] = [draw(), draw()];
    keys.push(one);
    made.push(one + other);
  }
  return made;
}

function itemButton({ key, text }, picked) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.dataset.key = key;
  made.setAttribute("aria-pressed", key === picked);
  return made;
}

/** In the picture: a tap picks, a drag onto another one joins the two. */
function tappable(stage, live, pick, join) {
  let held = null;
  const parts = (key) => stage.querySelectorAll(`[data-pick="${key}"]`);
  const under = ({ clientX, clientY }) =>
    document
      .elementsFromPoint(clientX, clientY)
      .map((part) => part.dataset?.pick)
      .find((key) => key && key !== held.key);
  const light = (key) => {
    for (const part of stage.querySelectorAll("[data-pick]")) {
      part.classList.toggle("onto", part.dataset.pick === key);
    }
  };

  const follow = (event) => {
    const by = [event.clientX - held.x, event.clientY - held.y];
    held.moved ||= Math.hypot(...by) > FAR;
    if (!held.moved) return;
    const scale = stage.querySelector("svg").getScreenCTM().a;
    const shifted = `translate(${by.map((px) => px / scale).join(" ")})`;
    for (const part of parts(held.key)) part.setAttribute("transform", shifted);
    light(under(event));
  };
  const release = () => {
    for (const part of parts(held.key)) part.removeAttribute("transform");
    light(null);
    stage.classList.remove("os-dragging");
    held = null;
  };
  const drop = (event) => {
    const { key, moved } = held;
    const onto = moved && under(event);
    release();
    if (onto) join(key, onto);
    else if (!moved) pick(key);
  };

  stage.addEventListener("pointerdown", (event) => {
    const { pick: key } = event.target.dataset;
    if (!key || live.locked || event.button !== 0) return;
    held = { key, x: event.clientX, y: event.clientY, moved: false };
    stage.setPointerCapture(event.pointerId);
    stage.classList.add("os-dragging");
  });
  stage.addEventListener("pointermove", (event) => {
    if (held) follow(event);
  });
  stage.addEventListener("pointerup", (event) => {
    if (held) drop(event);
  });
  stage.addEventListener("pointercancel", () => {
    if (held) release();
  });
}
