// The state in the address: #<figure>:<control>=<value>&… is a public interface. A
// teacher links to a moment; such links must keep working.

/** What the hash says about figure `id`: { control: value }, unknown parts dropped. */
export function read(hash, id, spec) {
  const [name, rest] = decoded(hash.replace(/^#/, "")).split(/:(.*)/s);
  if (name !== id || !rest) return null;
  const found = {};
  for (const pair of rest.split("&")) {
    const [key, text] = pair.split("=");
    const control = spec.controls.find((each) => each.name === key);
    const value = control && parse(control, text ?? "");
    if (value !== undefined) found[key] = value;
  }
  return found;
}

/** The hash for `state`: what differs from `opening`; "" when nothing does. */
export function write(id, spec, state, opening) {
  const changed = spec.controls.filter(
    (c) => !UNWRITTEN.has(c.kind) && !same(state[c.name], opening[c.name]),
  );
  if (changed.length === 0) return "";
  return `#${id}:${changed.map((c) => `${c.name}=${state[c.name]}`).join("&")}`;
}

const UNWRITTEN = new Set(["data", "log"]); // too long for an address

/** Whether two values of a control are the same; rows are compared number by number. */
export const same = (a, b) => a === b || (Array.isArray(a) && String(a) === String(b));

/** `value` made fit for its control: its type, its bounds; undefined if hopeless. */
export function fit(control, value) {
  switch (control.kind) {
    case "toggle":
      return Boolean(value);
    case "choice":
      return control.of.includes(value) ? value : undefined;
    case "data":
      return numbers(value);
    case "log":
      return value && typeof value === "object" ? value : undefined;
    case "row":
      return row(control, value);
    case "pairs":
      return PAIRS.test(value) ? value : undefined;
    default:
      return bounded(control, Number(value));
  }
}

const PAIRS = /^([A-Z]{2}(\.[A-Z]{2})*)?$/;

/** Infinities travel as words, because JSON has none. */
const numbers = (list) =>
  list.some((x) => typeof x === "string") ? list.map(Number) : list;

function row(control, list) {
  const fitted = list.map((x) => bounded(control, Number(x)));
  return 0 < list.length && list.length <= control.most && !fitted.includes(undefined)
    ? fitted
    : undefined;
}

function bounded({ low = 0, high = Infinity, step = 1 }, value) {
  if (!Number.isFinite(value)) return undefined;
  const whole = Math.round((value - low) / step) * step + low;
  return Math.min(high, Math.max(low, Number(whole.toFixed(9))));
}

function parse(control, text) {
  if (text === "") return undefined;
  if (control.kind === "toggle") return { true: true, false: false }[text];
  if (control.kind === "choice")
    return control.of.find((value) => String(value) === text);
  if (control.kind === "row") return fit(control, text.split(","));
  return UNWRITTEN.has(control.kind) ? undefined : fit(control, text);
}

/** Without percent signs; a broken one leaves all as it is. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
