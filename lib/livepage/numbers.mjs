// How a page formats numbers for readers: the twin of numbers.py, which states the rule.

const COUNTED = 2 ** 53; // from here on, floats cannot represent every integer
const SMALLEST_POWER = -4;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const NOT_IN_JSON = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** A number from JSON, which has strings for ∞ and NaN; undefined for other strings. */
export const number = (value) =>
  typeof value === "number" ? value : NOT_IN_JSON[value];

/** A number or a list as text for readers; other text stays as it is. */
export function show(value, digits = 5) {
  if (Array.isArray(value)) return value.map((part) => show(part, digits)).join(", ");
  if (value === undefined || value === null) return "–";
  const known = number(value);
  if (known === undefined) return String(value);
  if (Number.isNaN(known)) return "NaN";
  return (known < 0 ? "−" : "") + positive(Math.abs(known), digits);
}

/** A positive number as text. */
function positive(x, digits) {
  if (x === Infinity) return "∞";
  const countable = x < COUNTED;
  if (countable && Number.isInteger(x)) return String(x);
  const before = countable && x >= 1 ? String(Math.floor(x)).length : 1;
  const [figures, power] = rounded(x, Math.max(digits, before));
  if (power < SMALLEST_POWER || !countable) {
    const raised = String(power)
      .replace("-", "⁻")
      .replace(/\d/g, (d) => RAISED[d]);
    return `${withPoint(figures, 1)}\u00a0×\u00a010${raised}`;
  }
  if (power < 0) return withPoint("0".repeat(-power) + figures, 1);
  return withPoint(figures.padEnd(power + 1, "0"), power + 1);
}

/** Digits with a decimal point after `before` of them, without trailing zeros. */
function withPoint(figures, before) {
  const after = figures.slice(before).replace(/0+$/, "");
  return figures.slice(0, before) + (after ? `.${after}` : "");
}

/** The leading digits of a positive number, rounded, and its power of ten. */
function rounded(x, count) {
  const [figures, power] = x.toExponential(count - 1).split("e");
  const [exact, exactPower] = x.toExponential(100).split("e");
  const down = exact.replace(".", "").slice(0, count);
  if (isTieToEven(exact.replace(".", ""), count)) return [down, Number(exactPower)];
  return [figures.replace(".", ""), Number(power)];
}

/** Whether the digits after the first `count` are exactly a half, and the last digit
 *  before them is even: there JavaScript rounds up, but the rule is ties to even. No float
 *  is so close to a half that 100 digits cannot tell the two apart. */
const isTieToEven = (figures, count) =>
  /^50*$/.test(figures.slice(count)) && /[02468]$/.test(figures.slice(0, count));

/** If `x` is exactly halfway between two numbers with that many decimals and the lower
 *  one is even, the lower one as text; else undefined. Only multiples of a power of two
 *  can be exactly halfway. */
function tiedDown(x, decimals) {
  if (!Number.isInteger(x * 2 ** (decimals + 1))) return undefined;
  const exact = x.toFixed(100);
  const end = exact.length - 100 + decimals;
  const even = isTieToEven(exact.replace(".", ""), end - 1);
  return even ? exact.slice(0, decimals ? end : end - 1) : undefined;
}

/** A number with a fixed count of decimals, for texts that change in place: 0.50, −∞. */
export function fixed(x, decimals) {
  const size = Math.abs(x);
  if (!(size < 1e21)) return show(x); // `toFixed` uses exponential notation from there on
  const text = tiedDown(size, decimals) ?? size.toFixed(decimals);
  return (x < 0 && Number(text) !== 0 ? "−" : "") + text;
}

const english = { separator: ",", least: 4 };
const others = { separator: "\u202f", least: 5 };
let thousands = english;

/** Group thousands from now on as a language does: 65,536 in English, 65 536 elsewhere. */
export function speak(language) {
  thousands = language && language !== "en" ? others : english;
}

/** A number with its thousands grouped, as in the chapters' sentences: 65,536. */
export const grouped = (x) =>
  String(x).replace(/^\d+/, (whole) =>
    whole.length < thousands.least
      ? whole
      : whole.replace(/\B(?=(\d{3})+$)/g, thousands.separator),
  );
