// What stopped a cell, in words, and what its assertions have shown.

import { inEnglish, make, marked, sentence } from "livepage/drills/page";

import { notebook } from "./keys.mjs";

/** Elements that say what stopped a cell, and where. */
export function tellFault({ word }, report) {
  const { fault } = report;
  if (typeof fault === "string") {
    const key = report.word === "noPython" ? "cellNoPython" : report.word;
    return [said(sentence(word, key, report.slots))];
  }
  const parts = [];
  if (fault.above) parts.push(stoppedAbove(word, fault.above));
  const claim = fault.compared;
  if (claim) parts.push(...falseClaim(word, fault, claim));
  else if (fault.word) {
    const { word: slip, line, sign } = fault;
    parts.push(said(word(slip, { line, sign: `\`${sign}\`` })));
  } else parts.push(said(word(...whatAndWhere(fault, word))));
  if (fault.compared === null) parts.push(said(word("noValues")));
  if (["ImportError", "NameError"].includes(fault.kind)) parts.push(smallPython(word));
  return parts;
}

/** Elements that say whether the assertions hold, and which of them say nothing. */
export function tellClaims(word, { claims, doubts }) {
  const parts = doubts.map(({ word: why, line, part }) =>
    said(word(why, { line, part: `\`${part}\`` })),
  );
  if (!doubts.length) parts.push(note(word("holds")));
  else if (doubts.length < claims) parts.push(note(word("othersHold")));
  return parts;
}

export const note = (text) => make("p", { class: "os-drill-how" }, text);

const said = (text) => make("p", { class: "os-cell-said" }, ...marked(text));

/** What an error says, with its kind, unless it is a fault that the simulator has found. */
export const wholeOf = ({ kind, said: text }) =>
  kind === "Fault" ? text : text ? `${kind}: ${text}` : kind;

/** The sentence about an error, and what fills it. */
function whatAndWhere(fault, { language }) {
  const { kind, line, translated } = fault;
  const whole = translated ?? wholeOf(fault);
  const text = kind === "Fault" ? whole : `\`${whole}\``.replaceAll("``", "`");
  const what = translated || language === "en" ? text : inEnglish(text);
  return line ? ["onLine", { what, line }] : ["only", { what }];
}

/** What a false assertion compared: each side, and its value. */
function falseClaim(word, { line, said: message }, { part, sides }) {
  const parts = [said(word("isFalse", { line, part: `\`${part}\`` }))];
  if (message) parts.push(said(message));
  const rows = sides.map(([text, value]) =>
    make("div", {}, make("dt", {}, make("code", {}, text)), make("dd", {}, value)),
  );
  if (rows.length) parts.push(make("dl", { class: "os-cell-sides" }, ...rows));
  return parts;
}

function stoppedAbove(word, name) {
  const link = make("a", { href: `#${name}` }, word("cellAbove"));
  const [before, after] = word("stoppedAbove").split("{link}");
  return make("p", { class: "os-cell-said" }, before, link, after);
}

function smallPython(word) {
  const href = notebook();
  const link = href
    ? make("a", { href, download: "" }, word("theNotebook"))
    : word("theNotebook");
  const [before, after] = word("noNumpy").split("{link}");
  return make("p", { class: "os-cell-said" }, before, link, after);
}
