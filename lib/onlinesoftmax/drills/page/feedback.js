// From an outcome to what a teacher would say: the twin of feedback.py, as elements.

const MARKS = {
  right: "M3 8.5 6.5 12 13 4.5",
  wrong: "M2.5 8h11M9 3.5 13.5 8 9 12.5",
};

/** The verdict, its echo, and the hint or nudge it earns. */
function tell(drill, outcome) {
  const { word } = drill;
  const right = outcome.passed;
  const verdict = make("p", { class: "os-drill-verdict" });
  verdict.append(
    icon(right ? MARKS.right : MARKS.wrong),
    make("strong", {}, word(right ? "right" : "notYet")),
  );
  if (drill.kind === "numeric" && outcome.read) {
    verdict.append(" ", word("readAs", { value: show(outcome.read) }));
  }
  if (right) return [verdict, ...(drill.kind === "code" ? tellCode(drill, outcome) : [])];
  if (drill.kind === "code") return [verdict, ...tellCode(drill, outcome)];
  return [verdict, fromBank("p", told(drill, outcome))];
}

/** The hint of the misconception that shows, else the kind's nudge, as HTML. */
function told(drill, outcome) {
  const { word, data } = drill;
  const { payload } = data;
  if (outcome.unreadable) return unreadable(drill, outcome);
  if (outcome.hint !== null && outcome.hint !== undefined) return data.earned[outcome.hint];
  if (drill.kind === "order") {
    return word(outcome.place ? "nudgeOrder" : "nudgeOrderStart", { n: outcome.place });
  }
  if (drill.kind === "trace") {
    const [row, cell] = outcome.place;
    const column = word.column(payload.columns[cell]);
    return word("nudgeTrace", { row: row + 1, column });
  }
  if (outcome.points) {
    const n = outcome.points.filter(Boolean).length;
    const missed = data.points[outcome.points.indexOf(false)];
    return `${word("nudgeRecall", { n, all: outcome.points.length })} ${missed.hint}`;
  }
  return data.nudge;
}

function unreadable({ word, data }, outcome) {
  const { payload, form } = data;
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
  if (report.passed) parts.push(make("p", {}, word("passedAll", { n: cases.length })));
  if (report.passed || report.case !== null) parts.push(ladder(cases, report));
  if (!report.passed) {
    if (report.case !== null) {
      parts.push(make("p", {}, word("failedOn", { name: cases[report.case].name })));
    }
    parts.push(make("p", {}, fault(drill, report)));
    if (["differs", "shape", "count", "rule", "raised"].includes(report.fault)) {
      const hint = report.slip === null || report.slip === undefined;
      if (report.case !== null) parts.push(stepTable(drill, report));
      parts.push(hint ? make("p", {}, nudgeCode(drill, report))
        : fromBank("p", data.earned[report.slip]));
    }
  }
  if (report.printed?.length) {
    parts.push(
      make("p", { class: "os-drill-caption" }, word("printed")),
      make("pre", { class: "os-drill-printed", tabindex: "0" }, report.printed.join("\n")),
    );
  }
  return parts;
}

function nudgeCode({ word }, report) {
  return word(report.type === "ImportError" ? "noModule" : "codeNudge");
}

/** One mark a case: passed, failed, not reached. */
function ladder(cases, report) {
  const reached = report.passed ? cases.length : report.case;
  const items = cases.map(({ name }, i) => {
    const state = i < reached ? "right" : i === reached ? "wrong" : "ahead";
    const sign = { right: "✓", wrong: "✗", ahead: "·" }[state];
    return make("li", { class: `os-drill-${state}` }, `${sign} ${name}`);
  });
  return make("ul", { class: "os-drill-ladder" }, ...items);
}

function fault({ word, data }, report) {
  const { payload } = data;
  const { value } = report;
  const steps = report.case === null ? 0 : payload.cases[report.case].expected.length;
  switch (report.fault) {
    case "differs":
      return word(steps > 1 ? "differs" : "differsOnce", { n: report.rows.length });
    case "shape": {
      const columns = payload.compared.map(word.column).join(", ");
      return word("shape", { columns, value: show(value) });
    }
    case "count":
      return word("count", { n: value, all: steps });
    case "rule":
      return `${value[0].toUpperCase()}${value.slice(1)}.`;
    case "raised": {
      const line = report.line ? ` ${word("atLine", { line: report.line })}` : "";
      return word("raised", { type: report.type, value }).replace(/: $/, "") + line;
    }
    case "silent":
    case "tooLong":
      return word(report.fault, { n: value });
    default:
      return word(report.fault, { value });
  }
}

/** The steps up to the first fault: what is given, yours beside expected. */
function stepTable({ word, data }, report) {
  const { given, compared, cases } = data.payload;
  const { given: known, expected } = cases[report.case];
  const heads = [word("stepColumn"), ...given.map(word.column)].map((name, i) =>
    make("th", { scope: "col", "data-q": quantity(given[i - 1]) }, name),
  );
  for (const name of compared) {
    for (const whose of ["yours", "expected"]) {
      const text = `${word.column(name)}, ${word(whose)}`;
      heads.push(make("th", { scope: "col", "data-q": quantity(name) }, text));
    }
  }
  const count = Math.min(Math.max(report.rows.length, 1), expected.length);
  const rows = expected.slice(0, count).map((right, i) => {
    const last = i === count - 1;
    return stepRow(i, known[i], report.rows[i], right, last ? report.column : null);
  });
  const table = make(
    "table", { class: "os-drill-table" },
    make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...rows),
  );
  return make("div", { class: "os-drill-scroll", tabindex: "0" }, table);
}

function stepRow(i, known, mine, right, faulty) {
  const row = make("tr", {}, make("th", { scope: "row" }, String(i + 1)));
  for (const value of known) row.append(make("td", {}, show(value)));
  right.forEach((goal, j) => {
    const own = Array.isArray(mine) && j < mine.length ? mine[j] : "–";
    const [left, expected] = pair(own, goal);
    const cell = make("td", {}, left);
    if (j === faulty) {
      cell.className = "os-drill-wrong";
      cell.prepend("✗ ");
    }
    row.append(cell, make("td", {}, expected));
  });
  return row;
}

/** Two values with as many digits as it takes to tell them apart. */
function pair(mine, right) {
  const short = [show(mine), show(right)];
  const same = JSON.stringify(mine) === JSON.stringify(right);
  return short[0] !== short[1] || same ? short : [show(mine, 12), show(right, 12)];
}

const quantity = (name) => (QUANTITIES.includes(name) ? name : null);

function icon(path) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [name, value] of Object.entries({
    viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true",
  })) svg.setAttribute(name, value);
  const line = document.createElementNS(space, "path");
  for (const [name, value] of Object.entries({
    d: path, fill: "none", stroke: "currentColor", "stroke-width": 2,
    "stroke-linecap": "round", "stroke-linejoin": "round",
  })) line.setAttribute(name, value);
  svg.append(line);
  return svg;
}
