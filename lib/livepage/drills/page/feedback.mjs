// From an outcome to what a teacher would say, as elements: what feedback.py does in a
// notebook. Both only put into words what the graders and replies.json have decided.

import { quantities } from "livepage/drills";

import { replies } from "./grade.mjs";
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

/** Why an answer is close, or the hint it earns, else the kind's nudge, as HTML. */
function told(drill, outcome) {
  const { word, data, kind } = drill;
  const own = { hint: data.earned[outcome.hint], nudge: data.nudge };
  const places = { ...placesOf(drill, outcome), hint: own.hint };
  const keys = replies(kind, outcome);
  return keys.map((key) => own[key] ?? word(key, places)).join(" ");
}

/** What fills the places of what an answer may be told. */
function placesOf({ word, data, kind }, { ask, place }) {
  const { asked, payload } = data;
  const [a, b] = (ask ?? []).map((value) => show(value));
  const places = { asked, a, b, n: place };
  if (kind === "recall") {
    const names = Object.keys(payload.samples[0]);
    places.names = names.map((name) => `<code>${name}</code>`).join(", ");
  }
  if (kind === "trace" && place) {
    places.row = place[0] + 1;
    places.column = word.column(payload.columns[place[1]]);
  }
  return places;
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
