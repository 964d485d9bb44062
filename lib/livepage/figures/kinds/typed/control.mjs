// A short text to type. What cannot be taken stays in the field, with a sentence that
// says why; the figure goes on with the text it had.

import { box, complaint, element, input, labelled, span } from "../../host/html.mjs";
import { applied } from "../../host/inputs.mjs";
import { escape, fill } from "../../host/text.mjs";

export function html(control, words) {
  const field = { size: `${control.most}` };
  const quiet = { spellcheck: "false", autocomplete: "off", autocapitalize: "off" };
  const name = span(labelled(control, words));
  return box(
    "div",
    control,
    "os-typed",
    element("label", {}, name, input("text", { ...field, ...quiet })),
    complaint,
  );
}

export function wake(element, control, live) {
  const [field, said] = [element.querySelector("input"), element.lastChild];
  const { name, rewinds } = control;
  const complain = () => {
    const fault = faultOf(control, field.value, live.ui);
    said.innerHTML = escape(fault);
    field.setAttribute("aria-invalid", fault !== "");
    return fault;
  };
  field.oninput = ({ isComposing }) => isComposing || complain();
  field.addEventListener("compositionend", complain);
  applied(field, () => {
    if (complain() || field.value === live.state[name]) return;
    live.stop();
    live.set({ [name]: field.value, ...(rewinds && { [rewinds]: 0 }) });
  });
  let shown;
  // What was typed stays while the figure goes on, but a reset takes it back.
  live.at.reset.addEventListener("click", () => (shown = undefined));
  return () => {
    if (live.state[name] === shown) return; // what is being typed stays
    field.value = shown = live.state[name];
    complain();
  };
}

export function faultOf({ letters, most }, text, ui) {
  const unknown = [...text].find((each) => !letters.includes(each));
  if (unknown) return fill(ui.unknown, { letter: visible(unknown), letters });
  if (text.length > most) return fill(ui.tooLong, { n: text.length, most });
  return text ? "" : ui.nothing;
}

/** A letter, or the code of one that nobody sees when it stands alone. */
function visible(letter) {
  const code = letter.codePointAt(0).toString(16).toUpperCase();
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(letter) ? letter : `U+${code.padStart(4, "0")}`;
}

export function fit({ letters, most }, value) {
  const fits = typeof value === "string" && value.length > 0 && value.length <= most;
  return fits && [...value].every((each) => letters.includes(each)) ? value : undefined;
}
export const read = fit;
