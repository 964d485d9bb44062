// Marking an answer: the twin of grade.py, with the same outcomes. It knows no words.

import { number } from "../../numbers.mjs";
import GRADING from "../grading.json" with { type: "json" };
import { evaluate, readings, uncounted, unknown } from "./expression.mjs";

const SHARES = GRADING.shares; // what each is for stands in grade.py

const UNREADABLE = { passed: false, unreadable: true };
const EMPTY = { ...UNREADABLE, empty: true };
const isBlank = (text) => /^ *$/.test(text);

/** A number as typed; where that may mean two, both are considered. */
function mark(goal, wrong, names, answer, nouns = []) {
  const text = uncounted(String(answer), nouns);
  if (isBlank(text)) return EMPTY;
  let read;
  try {
    read = readings(text, names);
  } catch {
    return UNREADABLE;
  }
  read = read.slice(0, 2);
  const outcomes = read.map((reading) => judge(goal, wrong, reading));
  const [first, last] = [outcomes[0], outcomes.at(-1)];
  if (first.passed || outcomes.length === 1) return first;
  const values = read.map(({ value }) => value);
  const either = /[,e]/i.test(text); // these are written differently in other countries
  if (last.passed) return either ? last : { passed: false, ask: values };
  if (!either) return first;
  const clearer = saysWhy(first) || !saysWhy(last) ? first : last;
  return { ...clearer, read: values };
}

/** One value: right, close, a known mistake, or none of these. */
function judge(goal, wrong, reading) {
  const { value } = reading;
  if (hits(goal, value)) return { passed: true, read: [value] };
  const exact = only(wrong.map((slip) => same(value, slip)));
  let near = nearness(goal, reading, exact !== null);
  let hint = exact;
  if (near === null) {
    hint ??= mistake(goal, wrong, reading);
    if (hint === null && nearly(goal, value)) near = "rough";
  }
  return { passed: false, read: [value], near, hint };
}

const saysWhy = ({ near, hint }) => near !== null || hint !== null;

/** Whether a value is right; of an infinity or NaN, only that value is. */
function hits(goal, value) {
  if (!("low" in goal)) return same(value, goal.value);
  return goal.low <= value && value <= goal.high;
}

/** Whether two values are one number; NaN is NaN, for somebody typed it. */
function same(value, target) {
  const other = number(target);
  if (Number.isFinite(value) && Number.isFinite(other)) {
    return Math.abs(value - other) <= SHARES.equal * Math.abs(other);
  }
  return value === other || (Number.isNaN(value) && Number.isNaN(other));
}

/** Why a value is close: rounded too far, or to the unsafe side, or per cent. */
function nearness(goal, reading, listed) {
  const { value, unit } = reading;
  if (!("low" in goal)) return null;
  const [a, b] = [goal.value, goal.unsafe ?? goal.value];
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  if (low <= value && value <= high && low < high) return "side";
  if (isShort(goal, reading)) return listed && goal.counted ? null : "digits";
  if (listed || !unit || !(goal.value > 0 && goal.value < 1)) return null;
  const part = value / 100;
  const short = goal.rounded.some((rounded) => same(part, rounded));
  return short || hits(goal, part) ? "share" : null;
}

/** Whether a value is the answer with too few digits, in whatever unit. */
function isShort(goal, { value, unit }) {
  const right = goal.value;
  const gap = Math.abs(value - right);
  if (gap <= Math.min(unit / 2, SHARES.short * Math.abs(right))) return true;
  const rounds = unit > 0 || goal.nearly > 0;
  return rounds && goal.rounded.some((short) => same(value, short));
}

const nearly = (goal, value) =>
  "low" in goal && Math.abs(value - goal.value) <= goal.nearly;

/**
 * The one misconception that explains a value better than the answer does.
 *
 * A count is exact, unless somebody types it as 8.59e9.
 */
function mistake(goal, wrong, reading) {
  const { value } = reading;
  const right = number(goal.value);
  if (!Number.isFinite(value)) return null;
  const far = Number.isFinite(right) ? Math.abs(value - right) : Infinity;
  const slips = wrong.map(number);
  const found = slips.map(
    (slip) =>
      Number.isFinite(slip) &&
      !(goal.counted && Number.isInteger(slip) && reading.unit <= 1) &&
      Math.abs(value - slip) < far &&
      agrees(reading, slip),
  );
  const rounded = found.map((holds, i) => holds && rounds(reading, slips[i]));
  return only(rounded.includes(true) ? rounded : found);
}

/** Whether a value is a slip's, rounded or cut off to the digits typed. */
function agrees({ value, unit }, slip) {
  const gap = Math.abs(value - slip);
  const reach = Math.abs(value) < 10 * unit ? SHARES.single : SHARES.roughly;
  if (gap > reach * Math.abs(slip)) return false;
  const shorter = Math.abs(slip) - Math.abs(value);
  const cut = value * slip > 0 && shorter >= 0 && shorter < unit;
  if (cut || gap <= SHARES.alike * Math.abs(slip)) return true;
  return rounds({ value, unit }, slip);
}

/** Whether a value is a slip's, rounded to the digits typed. */
function rounds({ value, unit }, slip) {
  return Math.abs(value - slip) <= (unit / 2) * (1 + SHARES.equal);
}

/** The index of the one that holds; of several, none is known to be it. */
function only(holds) {
  const index = holds.indexOf(true);
  return index < 0 || holds.lastIndexOf(true) !== index ? null : index;
}

/** Which name of a formula that cannot be read is not known, if it is that. */
const saidUnknown = (name) =>
  name ? { ...UNREADABLE, unknown: true, slots: { name } } : UNREADABLE;

/** A formula, by its values at each sample of its variables. */
function formula(payload, answer) {
  if (isBlank(answer)) return EMPTY;
  let values;
  try {
    values = payload.samples.map((at) => evaluate(answer, at));
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

export const GRADERS = {
  numeric: ({ goal, wrong, names, nouns }, answer) =>
    mark(goal, wrong, names, answer, nouns),

  recall: formula,

  trace(payload, answer) {
    for (const [i, row] of payload.goals.entries()) {
      for (const [j, goal] of row.entries()) {
        const slips = payload.wrong[i][j];
        const wrong = slips.map(([value]) => value);
        const outcome = mark(goal, wrong, {}, answer[i]?.[j] ?? "");
        if (outcome.passed) continue;
        const hint = slips[outcome.hint]?.[1] ?? null;
        const slots = { row: i + 1, column: [{ column: payload.columns[j] }] };
        return { ...outcome, hint, cell: [i, j], slots };
      }
    }
    return { passed: true };
  },

  choice(payload, answer) {
    const picked = letterPlace(answer);
    if (picked === null || !(picked >= 0 && picked < payload.count)) return UNREADABLE;
    return { passed: picked === payload.right, hint: picked };
  },

  /** Right is every order in which each line comes after what it needs, and `also`. */
  order({ shown, needs, wrong, also }, answer) {
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
  },
};

/** 0 for "a" or "A", 1 for "b" …; a number stays as it is. */
function letterPlace(answer) {
  if (typeof answer === "number") return Math.trunc(answer);
  const text = String(answer).trim().toLowerCase();
  return /^[a-z]$/.test(text) ? text.charCodeAt(0) - 97 : null;
}

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
  return (slip ?? hint ?? null) === null && !(broke && !reached);
}

/** The words an answer earns; "hint" and "nudge" are the drill's own. */
export const replies = (kind, outcome) =>
  GRADING.rules.find(([needs]) =>
    needs.every((fact) => fact === kind || holds(outcome, fact)),
  )[1];
