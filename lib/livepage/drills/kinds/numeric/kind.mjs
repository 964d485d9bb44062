// A number: how the page reads it and marks it.

import { show } from "../../../numbers.mjs";
import { LEAST, evaluate } from "../../page/expression.mjs";
import { mark as markNumber } from "../../page/marking.mjs";

export const mark = ({ goal, wrong, names, nouns }, answer, language) =>
  markNumber(goal, wrong, names, answer, nouns, language);

export const forms = {
  numeric: {
    prepare(drill) {
      const input = drill.form.elements.answer;
      input.addEventListener("input", () => echo(drill, input));
    },
    restored: (drill) => echo(drill, drill.form.elements.answer),
    read: (drill) => drill.form.elements.answer.value,
  },
};

/** Beside the box: the value of what has been typed, if it is more than a number. */
function echo(drill, input) {
  const output = drill.form.querySelector(".os-drill-echo");
  let value = null;
  try {
    value = evaluate(input.value, {}, drill.word.language);
  } catch {
    // half-typed expressions are no fault
  }
  const bare = /^\s*[-−]?\d*[.]?\d*\s*$/.test(input.value);
  const shown = value === LEAST ? "≈ 0" : `= ${show(value)}`;
  output.value = value === null || bare ? "" : shown;
}
