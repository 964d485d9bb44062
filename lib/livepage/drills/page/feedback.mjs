// From an outcome to what a teacher would say: the twin of feedback.py, as elements.

import { quantities } from "livepage/drills";

import { scoreCard } from "./kernel.mjs";
import { fromBank, make, marked, sentence, show } from "./words.mjs";

export const MARKS = {
  right: "M3 8.5 6.5 12 13 4.5",
  wrong: "M2.5 8h11M9 3.5 13.5 8 9 12.5",
};

/** The verdict, its echo, and the hint or nudge it earns. */
export function tell(drill, outcome) {
  const { word } = drill;
  const right = outcome.passed;
  const verdict = make("p", { class: "os-drill-verdict" });
  verdict.append(
    icon(right ? MARKS.right : MARKS.wrong),
    make("strong", {}, word(right ? "right" : outcome.near ? "close" : "notYet")),
  );
  if (drill.kind === "numeric" && outcome.read !== undefined) {
    verdict.append(" ", echoOf(word, outcome.read));
  }
  if (drill.runs) return [verdict, ...tellCode(drill, outcome)];
  return right ? [verdict] : [verdict, fromBank("p", told(drill, outcome))];
}

function echoOf(word, read) {
  if (!Array.isArray(read)) return word("readAs", { value: show(read) });
  const [a, b] = read.map((value) => show(value));
  return word("readEither", { a, b });
}

/** Whether an outcome is a miss: what is close, or cannot be read, is none. */
export const isMiss = ({ passed, unreadable: unread, ask, near, fault: kind }) =>
  !passed && !unread && !ask && !near && kind !== "noPython";

/** Why an answer is close, or the hint it earns, else the kind's nudge, as HTML. */
function told(drill, outcome) {
  const { word, data } = drill;
  const { payload } = data;
  if (outcome.unreadable) return unreadable(drill, outcome);
  if (outcome.ask) {
    const [a, b] = outcome.ask.map((value) => show(value));
    return inCell(drill, outcome) + word("which", { a, b });
  }
  const hint = Number.isInteger(outcome.hint) ? data.earned[outcome.hint] : null;
  if (outcome.near) return inCell(drill, outcome) + closeTo(drill, outcome, hint);
  if (hint !== null) return hint;
  if (drill.kind === "order") {
    return word(outcome.place ? "nudgeOrder" : "nudgeOrderStart", { n: outcome.place });
  }
  if (drill.kind === "trace") {
    const [row, cell] = outcome.place;
    const column = word.column(payload.columns[cell]);
    return word("nudgeTrace", { row: row + 1, column });
  }
  return data.nudge;
}

/** What a close answer lacks, and what else it may be if it is not rounded. */
function closeTo({ word, data }, { near }, hint) {
  const key = { side: "nearSide", share: "nearShare" }[near] ?? "nearDigits";
  const said = word(key, { asked: data.asked });
  return hint === null ? said : `${said} ${word("unlessRounded", { hint })}`;
}

/** The cell of a table that an outcome is about. */
function inCell({ word, data, kind }, outcome) {
  if (kind !== "trace") return "";
  const [row, cell] = outcome.place;
  const column = word.column(data.payload.columns[cell]);
  return `${word("placeTrace", { row: row + 1, column })} `;
}

function unreadable({ word, data }, outcome) {
  const { payload, form } = data;
  if (outcome.empty && form !== "trace") return word("empty");
  if (form === "choice") return word("noChoice");
  if (form === "trace") {
    const [row, cell] = outcome.place;
    const column = word.column(payload.columns[cell]);
    return word("unreadableTrace", { row: row + 1, column });
  }
  if (form !== "formula") return word("unreadable");
  const names = Object.keys(payload.samples[0]).map((name) => `<code>${name}</code>`);
  return word("unreadableFormula", { names: names.join(", ") });
}

/** Where a function first differs: the ladder of cases, one sentence, one table. */
function tellCode(drill, report) {
  const { word, data } = drill;
  const { cases } = data.payload;
  const parts = [];
  if (report.passed || report.case !== null) parts.push(ladder(drill, report));
  if (report.passed) parts.push(make("p", {}, word("passedAll", { n: cases.length })));
  else parts.push(make("p", {}, where(drill, report), ...fault(drill, report)));
  if (report.score) parts.push(scoreCard(drill, report.score));
  const seen = report.rows?.length || report.fault === "raised";
  if (report.table && seen) parts.push(steps(drill, report));
  if (report.launched) {
    const how = marked(sentence(word, ...report.launched));
    parts.push(make("p", { class: "os-drill-how" }, ...how));
  }
  if (!report.passed) parts.push(...hintFor(drill, report));
  if (report.printed) parts.push(...printed(word, report));
  return parts;
}

function where({ word, data }, report) {
  if (report.case === null || report.case === undefined) return "";
  return `${word("failedOn", { name: data.payload.cases[report.case].name })} `;
}

/** The hint of the mutant that does the same; else a nudge where one helps. */
function hintFor({ word, data }, { slip, nudge }) {
  if (Number.isInteger(slip)) return [fromBank("p", data.earned[slip])];
  return nudge ? [make("p", {}, word(nudge))] : [];
}

function printed(word, { printed: text, left }) {
  const parts = [
    make("p", { class: "os-drill-caption" }, word("printed")),
    make("pre", { class: "os-drill-printed", tabindex: "0" }, visible(text)),
  ];
  if (left) parts.push(make("p", { class: "os-drill-how" }, word("cut", { n: left })));
  return parts;
}

/** A printed text whose control characters are seen, and do nothing. */
function visible(text) {
  const picture = (character) => String.fromCharCode(0x2400 + character.charCodeAt(0));
  return text.trimEnd().replace(/[\0-\x08\x0b-\x1f]/g, picture);
}

/** The cases so far: those that pass, the one that fails, how many are left. */
function ladder({ word, kind, data }, report) {
  const { cases } = data.payload;
  const reached = report.passed ? cases.length : report.case;
  const drawn = kind === "kernel" ? "randomLaunch" : "random";
  const named = (case_) => case_.name !== word(drawn);
  const items = cases
    .slice(0, reached)
    .filter(named)
    .map(({ name }) => rung("right", `✓ ${name}`));
  const rows = reached - items.length;
  const counted = kind === "kernel" ? "randomLaunches" : "randomRows";
  if (rows > 0) items.push(rung("right", `✓ ${word(counted, { n: rows })}`));
  if (!report.passed) {
    items.push(rung("wrong", `✗ ${cases[reached].name}`));
    const left = cases.length - reached - 1;
    if (left > 0) items.push(rung("ahead", word("casesLeft", { n: left })));
  }
  return make("ul", { class: "os-drill-ladder" }, ...items);
}

const rung = (state, text) => make("li", { class: `os-drill-${state}` }, text);

/** What went wrong, as children of an element. */
export function fault({ word, data }, report) {
  const named = (cell, j) =>
    cell.replaceAll("#", word.column(data.payload.compared[j]));
  const form = report.form && `\`${report.form.map(named).join(", ")}\``;
  return marked(sentence(word, report.word, { ...report.places, form }));
}

/** The steps up to the first fault: what is given, yours beside expected. */
function steps({ word, data }, { table, column }) {
  const { given, compared } = data.payload;
  const columns = table.given.map((cells, j) => ({ name: given[j], cells }));
  table.compared.forEach(([yours, expected], j) => {
    const name = compared[j];
    if (yours) {
      columns.push({ name, whose: "yours", cells: yours, faulty: column === j });
    }
    columns.push({ name, whose: yours && "expected", cells: expected });
  });
  return stepTable(word, columns);
}

function stepTable(word, columns) {
  const quantity = (name) => (name in quantities ? name : null);
  const title = ({ name, whose }) =>
    whose ? `${word.column(name)}, ${word(whose)}` : word.column(name);
  const heads = columns.map((column) =>
    make("th", { scope: "col", "data-q": quantity(column.name) }, title(column)),
  );
  heads.unshift(make("th", { scope: "col" }, word("stepColumn")));
  const last = columns.at(-1).cells.length - 1;
  const rows = columns.at(-1).cells.map((_, i) => {
    const cells = columns.map(({ cells: values, faulty }) =>
      faulty && i === last
        ? make("td", { class: "os-drill-wrong" }, `✗ ${show(...values[i])}`)
        : make("td", {}, show(...values[i])),
    );
    return make("tr", {}, make("th", { scope: "row" }, String(i + 1)), ...cells);
  });
  const head = make("thead", {}, make("tr", {}, ...heads));
  const body = make("tbody", {}, ...rows);
  const table = make("table", { class: "os-drill-table" }, head, body);
  const scrolled = { class: "os-drill-scroll", tabindex: "0", role: "group" };
  return make("div", { ...scrolled, "aria-label": word("stepsTable") }, table);
}

export function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({
    viewBox: "0 0 16 16",
    width: 16,
    height: 16,
    "aria-hidden": "true",
  }))
    svg.setAttribute(name, value);
  const line = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({
    d: path,
    fill: "none",
    stroke: "currentColor",
    "stroke-width": 2,
    "stroke-linecap": "round",
    "stroke-linejoin": "round",
  }))
    line.setAttribute(name, value);
  svg.append(line);
  return svg;
}
