// The state in the address: #<figure>:<control>=<value>&… is a public interface. A
// teacher links to a moment; such links must keep working.

import * as kinds from "livepage/kinds";

/** What the hash says about figure `id`: { control: value }, unknown parts dropped. */
export function read(hash, id, spec) {
  const [name, rest] = decoded(hash.replace(/^#/, "")).split(/:(.*)/s);
  if (name !== id || !rest) return null;
  const found = {};
  for (const pair of rest.split("&")) {
    const [key, text] = pair.split(/=(.*)/s);
    const control = spec.controls.find((each) => each.name === key);
    if (!control || !text) continue;
    const value = kinds[control.kind].read?.(control, text);
    if (value !== undefined) found[key] = value;
  }
  return found;
}

/** The hash for `state`: what differs from `opening`; "" when nothing does. */
export function write(id, spec, state, opening) {
  const changed = spec.controls.filter(
    (c) => kinds[c.kind].read && !same(state[c.name], opening[c.name]),
  );
  if (changed.length === 0) return "";
  const hash = `#${id}:${changed.map((c) => `${c.name}=${state[c.name]}`).join("&")}`;
  return encodeURI(hash); // or a browser would drop a blank at its end
}

/** Whether two values of a control are the same; rows are compared number by number. */
export const same = (a, b) => a === b || (Array.isArray(a) && String(a) === String(b));

/** The text behind its percent signs; where one is broken, the text as it stands. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
