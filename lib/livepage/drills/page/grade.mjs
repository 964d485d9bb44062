// What an outcome earns: the twin of grade.py. It knows no words.

import GRADING from "../grading.json" with { type: "json" };

/** Whether a fact is true of an outcome: a field that it has, or why it is close. */
const holds = (outcome, fact) =>
  (outcome[fact] ?? false) !== false || fact === outcome.near || fact === outcome.fault;

/** Whether an outcome is a miss: what is close, or cannot be read, is none. */
export const isMiss = (outcome) => !GRADING.free.some((fact) => holds(outcome, fact));

/**
 * Whether an outcome names no mistake, and a hint on the computation would help. Of code
 * that fails before it computes anything, the error says more.
 */
export function isUnexplained({ slip, hint, fault, word = "", case: reached }) {
  const broke =
    fault === "raised" || GRADING.untried.some((begin) => word.startsWith(begin));
  const named = (slip ?? hint ?? null) !== null || GRADING.explained.includes(word);
  return !named && !(broke && !reached);
}

/** The words an answer earns; "hint" and "nudge" are the drill's own. */
export const replies = (kind, outcome) =>
  GRADING.rules.find(([needs]) =>
    needs.every((fact) => fact === kind || holds(outcome, fact)),
  )[1];
