// Marking a number as typed, for every kind that asks for numbers: the twin of marking.py.

import { number } from "../../numbers.mjs";
import GRADING from "../grading.json" with { type: "json" };
import { LEAST, readings, uncounted } from "./expression.mjs";

const SHARES = GRADING.shares; // marking.py says what each is for

export const UNREADABLE = { passed: false, unreadable: true };
export const EMPTY = { ...UNREADABLE, empty: true };
export const isBlank = (text) => /^ *$/.test(text);

/** A number as typed; where that may mean two, both are considered. */
export function mark(goal, wrong, names, answer, nouns = [], language = "en") {
  const text = uncounted(String(answer), nouns);
  if (isBlank(text)) return EMPTY;
  let read;
  try {
    read = readings(text, names, language);
  } catch {
    const said = text.trim().toLowerCase();
    return said === "error" ? { ...UNREADABLE, stops: true } : UNREADABLE;
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
  const kept = value === LEAST ? 0 : value; // as a float keeps it
  const exact = only(wrong.map((slip) => same(kept, slip)));
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
export function same(value, target) {
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
  if (Math.abs(value - right) <= Math.min(unit / 2, goal.short)) return true;
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

/** 0 for "a" or "A", 1 for "b" …; a number stays as it is. */
export function letterPlace(answer) {
  if (typeof answer === "number") return Math.trunc(answer);
  const text = String(answer).trim().toLowerCase();
  return /^[a-z]$/.test(text) ? text.charCodeAt(0) - 97 : null;
}
