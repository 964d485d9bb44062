// Lines to be put in order, by buttons or by dragging.

import { tellOfAnswer } from "../../page/boxes.mjs";
import { letterPlace, UNREADABLE } from "../../page/marking.mjs";

/** Right is every order in which each line comes after what it needs, and `also`. */
export function mark({ shown, needs, wrong, also }, answer) {
  const picked = [...answer].filter((part) => part !== " ").map(letterPlace);
  const all = new Set(picked);
  if (picked.length !== shown.length || !shown.every((_, i) => all.has(i))) {
    return UNREADABLE;
  }
  const lines = picked.map((p) => shown[p]);
  const fault = lines.findIndex((line, i) =>
    needs[line].some((need) => lines.indexOf(need) > i),
  );
  const named = also.some((order) => order.join() === lines.join());
  if (fault < 0 || named) return { passed: true };
  const early = wrong.findIndex(
    ([first, then]) => first === lines[fault] && lines.indexOf(then) > fault,
  );
  const hint = early < 0 ? null : early;
  return { passed: false, first: fault === 0, hint, slots: { n: fault } };
}

export const forms = {
  order: {
    prepare: (drill) => prepareOrder(drill),
    restored: (drill) => endsOfOrder(drill.lines),
    read: (drill) => [...drill.lines.children].map((line) => Number(line.dataset.line)),
    again(drill) {
      const lines = [...drill.lines.children];
      lines.sort((a, b) => a.dataset.line - b.dataset.line);
      drill.lines.append(...lines);
      endsOfOrder(drill.lines);
      tellOfAnswer(drill);
    },
  },
};

function prepareOrder(drill) {
  drill.lines = drill.form.querySelector(".os-drill-lines");
  for (const line of drill.lines.children) {
    line.querySelector(".os-drill-moves").hidden = false;
    dragLine(drill, line.querySelector(".os-drill-grip"));
  }
  drill.lines.addEventListener("click", (event) => {
    const button = event.target.closest("[data-move]");
    if (button) moveLine(drill, button);
  });
  endsOfOrder(drill.lines);
}

function moveLine(drill, button) {
  const line = button.closest("li");
  const up = button.dataset.move === "-1";
  const other = up ? line.previousElementSibling : line.nextElementSibling;
  if (!other) return;
  up ? line.after(other) : line.before(other);
  moved(drill, line);
}

/** Say where a line is now. The last verdict goes: it was about another order. */
function moved(drill, line) {
  endsOfOrder(drill.lines);
  tellOfAnswer(drill);
  drill.quiet();
  const letter = line.querySelector(".os-drill-letter").textContent;
  const all = drill.lines.children.length;
  const n = [...drill.lines.children].indexOf(line) + 1;
  drill.announce(drill.word("moved", { letter, n, all }));
}

/** The first line cannot go up, the last not down; the buttons keep their focus. */
function endsOfOrder(lines) {
  for (const line of lines.children) {
    const [up, down] = line.querySelectorAll("[data-move]");
    up.setAttribute("aria-disabled", String(line === lines.firstElementChild));
    down.setAttribute("aria-disabled", String(line === lines.lastElementChild));
  }
}

/**
 * Drag by the grip; the buttons do the same without dragging. The other lines step
 * aside: a line that is itself moved in the document would lose the pointer.
 */
function dragLine(drill, grip) {
  const line = grip.closest("li");
  const middle = (other) => {
    const { top, height } = other.getBoundingClientRect();
    return top + height / 2;
  };
  grip.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    grip.setPointerCapture(event.pointerId);
    line.classList.add("os-drill-dragged");
  });
  grip.addEventListener("pointermove", ({ pointerId, clientY }) => {
    if (!grip.hasPointerCapture(pointerId)) return;
    const above = () => line.previousElementSibling;
    const below = () => line.nextElementSibling;
    while (above() && clientY < middle(above())) line.after(above());
    while (below() && clientY > middle(below())) line.before(below());
  });
  grip.addEventListener("lostpointercapture", () => {
    line.classList.remove("os-drill-dragged");
    moved(drill, line);
  });
}
