// From an outcome to what a teacher would say, as elements: what feedback.py does in a
// notebook. Both only put into words what the graders and grading.json have decided.

import { quantities } from "livepage/drills";

import { show } from "../../numbers.mjs";
import { LEAST } from "./expression.mjs";
import { replies } from "./grade.mjs";
import { scoreCard } from "./kernel.mjs";
import { fromBank, make, marked, sentence } from "./words.mjs";

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
  if (drill.kind === "numeric" && outcome.read) {
    const key = outcome.read.length === 1 ? "readAs" : "readEither";
    verdict.append(" ", word(key, readingsOf(outcome.read)));
  }
  if (drill.runs) return [verdict, ...tellCode(drill, outcome)];
  return right ? [verdict] : [verdict, fromBank("p", reply(drill, outcome))];
}

/** What an answer may mean, for the slots of a sentence: one value or two. */
const readingsOf = ([a, b]) => ({ a: shown(a), b: shown(b) });

/** A value; of what is too small for a float, that it is nearly 0. */
const shown = (value) => (value === LEAST ? "≈ 0" : show(value));

/** Why an answer is close, or the hint it earns, else the kind's nudge, as HTML. */
function reply({ word, data, kind }, outcome) {
  const own = { hint: data.earned[outcome.hint], nudge: data.nudge };
  const readings = readingsOf(outcome.ask ?? []);
  const slots = { ...data.slots, ...outcome.slots, ...readings, hint: own.hint };
  const keys = replies(kind, outcome);
  return keys.map((key) => own[key] ?? sentence(word, key, slots)).join(" ");
}

/** How far a function comes: the list of cases, one sentence, one table. */
function tellCode(drill, report) {
  const { word, data } = drill;
  const { cases } = data.payload;
  const parts = [];
  if (report.passed || report.case !== null) parts.push(ladder(drill, report));
  const all = word("passedAll", { n: cases.length });
  if (report.passed) parts.push(...(cases.length > 1 ? [make("p", {}, all)] : []));
  else parts.push(make("p", {}, where(drill, report), ...fault(word, report)));
  if (report.score) parts.push(scoreCard(drill, report.score));
  if (report.table) parts.push(stepTable(word, report.table));
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

/**
 * The hint of the known mistake that does the same, or else a nudge, if there is one. As
 * long as nothing is changed, the mistake is the reader's to find, without a hint.
 */
function hintFor({ word, data, released }, { slip, nudge, untouched }) {
  if (untouched && released === 0) return [make("p", {}, word("untouched"))];
  if (Number.isInteger(slip)) return [fromBank("p", data.earned[slip])];
  return nudge ? [make("p", {}, word(nudge))] : [];
}

function printed(word, { printed: text, omitted }) {
  const parts = [
    make("p", { class: "os-drill-caption" }, word("printed")),
    make("pre", { class: "os-drill-printed", tabindex: "0" }, visible(text)),
  ];
  const cut = word("cut", { n: omitted });
  if (omitted) parts.push(make("p", { class: "os-drill-how" }, cut));
  return parts;
}

/** A printed text, with a visible sign for each control character. */
function visible(text) {
  const picture = (character) => String.fromCharCode(0x2400 + character.charCodeAt(0));
  return text.trimEnd().replace(/[\0-\x08\x0b-\x1f]/g, picture);
}

/** The cases so far: those that pass, the one that fails, how many are left. */
function ladder({ word, kind, data }, report) {
  const { cases } = data.payload;
  const reached = report.passed ? cases.length : report.case;
  const items = cases
    .slice(0, reached)
    .filter(({ drawn }) => !drawn)
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
export const fault = (word, report) =>
  marked(sentence(word, report.word, report.slots));

/** The table of a report: a column of steps, then those that the grader lists. */
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
  const line = `d="${path}" fill="none" stroke="currentColor" stroke-width="2"`;
  const ends = 'stroke-linecap="round" stroke-linejoin="round"';
  const box = 'viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"';
  const svg = `<svg ${box}><path ${line} ${ends}></path></svg>`;
  return fromBank("span", svg).firstElementChild;
}
