// A sweep on a page: a slider over outputs that the build computed, one per position.

import { escape } from "./text.mjs";

export function sweeps(page) {
  for (const box of page.querySelectorAll(".os-sweep")) slide(box);
}

function slide(box) {
  const cases = [...box.querySelectorAll(".os-case")];
  const bar = box.querySelector(".os-sweep-bar");
  bar.innerHTML = `<label><span>${escape(box.dataset.label)}</span>
    <input type="range" min="0" max="${cases.length - 1}" step="1" value="0"></label>
    <output></output>`;
  const input = bar.querySelector("input");
  const show = () => {
    cases.forEach((each, i) => {
      each.hidden = i !== Number(input.value);
    });
    const { value } = cases[input.value].dataset;
    bar.querySelector("output").textContent = value;
    input.setAttribute("aria-valuetext", value);
    input.style.setProperty(
      "--filled",
      `${(100 * input.value) / Math.max(1, input.max)}%`,
    );
  };
  input.oninput = show;
  box.classList.add("os-live");
  show();
}
