// The forms: what each does when the page opens, and how an answer is read from it.

import { show } from "../../numbers.mjs";
import { prepareEditor } from "./editor.mjs";
import { evaluate } from "./expression.mjs";

export const FORMS = {
  numeric: {
    prepare(drill) {
      const input = drill.form.elements.answer;
      input.addEventListener("input", () => echo(drill, input));
    },
    restored: (drill) => echo(drill, drill.form.elements.answer),
    read: (drill) => drill.form.elements.answer.value,
  },

  formula: { prepare() {}, read: (drill) => drill.form.elements.answer.value },

  own: { prepare() {}, read: (drill) => drill.form.elements.answer.value },

  choice: {
    prepare() {},
    read: (drill) => Number(drill.form.elements.answer.value || -1),
  },

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

  trace: {
    prepare(drill) {
      drill.form.querySelector(".os-drill-levels").hidden = false;
      drill.form.addEventListener("change", (event) => {
        if (event.target.name === "level") fillTrace(drill);
      });
      fillTrace(drill);
    },
    restored: (drill) => fillTrace(drill),
    read: (drill) =>
      drill.data.payload.rows.map((row, i) =>
        row.map((_, j) => drill.form.elements[`cell-${i}-${j}`].value),
      ),
    again(drill) {
      for (const cell of drill.form.querySelectorAll("td input")) typeInto(cell, "");
      fillTrace(drill);
      tellOfAnswer(drill);
    },
  },

  code: {
    prepare(drill) {
      const area = drill.form.elements.answer;
      drill.gutter = drill.form.querySelector(".os-drill-gutter");
      const submit = () => drill.form.requestSubmit();
      prepareEditor(area, drill.gutter, submit);
      drill.form.querySelector(".os-drill-keys").hidden = false;
    },
    read: (drill) => drill.form.elements.answer.value,
    again: (drill) => drill.keeper.startAgain(),
  },
};

/** Beside the box: the value of what has been typed, if it is more than a number. */
function echo(drill, input) {
  const output = drill.form.querySelector(".os-drill-echo");
  let value = null;
  try {
    value = evaluate(input.value);
  } catch {
    // half-typed expressions are no fault
  }
  const bare = /^\s*[-−]?\d*[.]?\d*\s*$/.test(input.value);
  output.value = value === null || bare ? "" : `= ${show(value)}`;
}

/** What the reader typed into a box, even while the page has filled that box in. */
export function typedIn(box) {
  return box.readOnly ? (box.dataset.typed ?? "") : box.value;
}

export function typeInto(box, text) {
  box.dataset.typed = text;
  if (!box.readOnly) box.value = text;
}

/** Tell those who listen to the form that an answer changed, though nobody typed. */
function tellOfAnswer(drill) {
  drill.form.dispatchEvent(new Event("change"));
}

/** Fill the table up to the chosen level; every second cell at "half". */
function fillTrace(drill) {
  const level = drill.form.elements.level.value;
  drill.data.payload.rows.forEach((row, i) =>
    row.forEach((value, j) => {
      const cell = drill.form.elements[`cell-${i}-${j}`];
      const given = level === "full" || (level === "half" && (i + j) % 2 === 0);
      cell.dataset.typed = typedIn(cell);
      cell.value = given ? show(value) : cell.dataset.typed;
      cell.readOnly = given;
      cell.removeAttribute("aria-invalid");
    }),
  );
}

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
