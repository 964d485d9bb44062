// A table, marked row by row.

import { show } from "../../../numbers.mjs";
import { tellOfAnswer, typedIn, typeInto } from "../../page/boxes.mjs";
import { mark as markNumber } from "../../page/marking.mjs";

export function mark(payload, answer, language) {
  for (const [i, row] of payload.goals.entries()) {
    for (const [j, goal] of row.entries()) {
      const slips = payload.wrong[i][j];
      const wrong = slips.map(([value]) => value);
      const typed = answer[i]?.[j] ?? "";
      const outcome = markNumber(goal, wrong, {}, typed, [], language);
      if (outcome.passed) continue;
      const hint = slips[outcome.hint]?.[1] ?? null;
      const slots = { row: i + 1, column: [{ column: payload.columns[j] }] };
      return { ...outcome, hint, cell: [i, j], slots };
    }
  }
  return { passed: true };
}

export const forms = {
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
};

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
