// A formula, or an answer in the reader's own words.

import { evaluate, unknown } from "../../page/expression.mjs";
import { EMPTY, isBlank, same, UNREADABLE } from "../../page/marking.mjs";

/** A formula, by its values at each sample of its variables. */
export function mark(payload, answer, language) {
  if (isBlank(answer)) return EMPTY;
  let values;
  try {
    values = payload.samples.map((at) => evaluate(answer, at, language));
  } catch {
    return saidUnknown(unknown(answer, payload.samples[0]));
  }
  // Two lines of code, of which only the last would be read.
  if (String(answer).split("=").length > 2) return UNREADABLE;
  const equals = (targets) => values.every((value, i) => same(value, targets[i]));
  if (equals(payload.values)) return { passed: true };
  const index = payload.wrong.findIndex(equals);
  return { passed: false, hint: index < 0 ? null : index };
}

/** Which name of a formula that cannot be read is not known, if it is that. */
const saidUnknown = (name) =>
  name ? { ...UNREADABLE, unknown: true, slots: { name } } : UNREADABLE;

const line = { prepare() {}, read: (drill) => drill.form.elements.answer.value };

export const forms = { formula: line, own: line };
