// How a page writes a number for readers: the twin of numbers.py, which says the rule.

const COUNTED = 2 ** 53; // from here on a float is a rounded number itself
const SMALLEST_POWER = -4;
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹";
const UNKNOWN_TO_JSON = { inf: Infinity, "-inf": -Infinity, nan: NaN };

/** A number, of which JSON has some as a text; undefined for any other text. */
export const number = (value) =>
  typeof value === "number" ? value : UNKNOWN_TO_JSON[value];

/** A number or a list as a reader writes it; a text stays as it is. */
export function show(value, digits = 5) {
  if (Array.isArray(value)) return value.map((part) => show(part, digits)).join(", ");
  if (value === undefined || value === null) return "–";
  const known = number(value);
  if (known === undefined) return String(value);
  if (Number.isNaN(known)) return "NaN";
  return (known < 0 ? "−" : "") + positive(Math.abs(known), digits);
}

/** A number without its sign. */
function positive(x, digits) {
  if (x === Infinity) return "∞";
  const countable = x < COUNTED;
  if (countable && Number.isInteger(x)) return String(x);
  const before = countable && x >= 1 ? String(Math.floor(x)).length : 1;
  const [kept, power] = rounded(x, Math.max(digits, before));
  if (power < SMALLEST_POWER || !countable) {
    const raised = String(power)
      .replace("-", "⁻")
      .replace(/\d/g, (d) => RAISED[d]);
    return `${pointed(kept, 1)}\u00a0×\u00a010${raised}`;
  }
  if (power < 0) return pointed("0".repeat(-power) + kept, 1);
  return pointed(kept.padEnd(power + 1, "0"), power + 1);
}

/** Figures with a point after the first few, and no zeros at the end. */
function pointed(figures, before) {
  const behind = figures.slice(before).replace(/0+$/, "");
  return figures.slice(0, before) + (behind ? `.${behind}` : "");
}

/** The first figures of a positive number, rounded, and its power of ten. */
function rounded(x, count) {
  const [figures, power] = x.toExponential(count - 1).split("e");
  const [exact, exactPower] = x.toExponential(100).split("e");
  const down = exact.replace(".", "").slice(0, count);
  if (isTieToEven(exact.replace(".", ""), count)) return [down, Number(exactPower)];
  return [figures.replace(".", ""), Number(power)];
}

/** Whether figures go on with exactly a half after the first few, the last of them even:
 *  there JavaScript rounds up. A float is never nearer to a half than 100 figures show. */
const isTieToEven = (figures, count) =>
  /^50*$/.test(figures.slice(count)) && /[02468]$/.test(figures.slice(0, count));

/** A positive number halfway between two of so many decimals, as the lower of them if
 *  that is the even one; else undefined. Such a half is a multiple of a power of two. */
function tiedDown(x, decimals) {
  if (!Number.isInteger(x * 2 ** (decimals + 1))) return undefined;
  const exact = x.toFixed(100);
  const end = exact.length - 100 + decimals;
  const even = isTieToEven(exact.replace(".", ""), end - 1);
  return even ? exact.slice(0, decimals ? end : end - 1) : undefined;
}

/** A number with fixed decimals, for texts that change in place: 0.50, −∞. */
export function fixed(x, decimals) {
  const size = Math.abs(x);
  if (!(size < 1e21)) return show(x); // from there on `toFixed` fixes nothing
  const text = tiedDown(size, decimals) ?? size.toFixed(decimals);
  return (x < 0 && Number(text) !== 0 ? "−" : "") + text;
}

/** In a figure's sentences thousands are grouped, as in the chapter's: 65,536. */
export const grouped = (x) =>
  String(x).replace(/^\d+/, (whole) => whole.replace(/\B(?=(\d{3})+$)/g, ","));
