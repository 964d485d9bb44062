// The text of a kernel, and beside each line what it costs, by kind of instruction.

import { ARCH, D, LANGUAGE, LOOKS, NAMES, WARP } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, level, rect } from "livepage/shapes.mjs";
import { fill, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const sum = (list) => list.reduce((total, x) => total + x, 0);

export function compute({ rung, line, kernels }) {
  const { pairs, all, rows: given } = kernels[rung];
  const [kinds, rows] = [each(all, pairs), costs(given, pairs)];
  const total = sum(kinds);
  return {
    rows,
    kinds,
    total,
    fma: kinds[0] / total,
    most: rows.reduce((one, other) => (other.cost > one.cost ? other : one)),
    picked: rows.find(({ key }) => key === line) ?? null,
    items: [{ key: "" }, ...rows.map(named)],
    ends: ends(Object.values(kernels)),
  };
}

/** A row as the menu calls it. */
const named = ({ key, at, to, text }) => ({
  key,
  text: text ? `${at} ${text}` : `${at}–${to}`,
});

/** Counts of warps as instructions of a thread, for each pair of a query and a key. */
const each = (counts, pairs) => counts.map((count) => (WARP * count) / pairs);

/** Each row with what it costs. */
function costs(rows, pairs) {
  return rows.map(([at, to, depth, text, ...counts]) => {
    const kinds = each(counts, pairs);
    const [key, cost, q] = [String(at), sum(kinds), quantity(text)];
    return { key, at, to, depth, text, kinds, cost, q };
  });
}

/** The quantity that a line of Python sets, by the name it begins with: `l += p`. */
function quantity(text) {
  const [, name] = /^(\w+)(?:\[[^\]]*\])? [-+*]?= /.exec(text) ?? [];
  return NAMES[name] ?? null;
}

/** The costliest line and the costliest kernel: all are drawn to one scale. */
function ends(kernels) {
  const lines = kernels.flatMap(({ rows, pairs }) =>
    costs(rows, pairs).map(({ cost }) => cost),
  );
  const totals = kernels.map(({ all, pairs }) => sum(each(all, pairs)));
  return { line: Math.max(...lines), kernel: Math.max(...totals) };
}

/** Whether a row has a number to show: more than 0.0. */
const told = ({ cost }) => cost >= 0.05;

// ---- the picture -------------------------------------------------------------------

// Wide, a bar stands beside its line: `down` from the top of the row. Narrow, it stands
// below it, and makes the row higher by `more`. A bar shorter than `seen` is left out.
const WIDE = {
  width: 720,
  columns: 4,
  bars: { x: 462, room: 206, down: 5 },
  code: { end: 456, letter: 7.53, indent: 13, look: "listed" },
  row: 20,
  more: 0,
  seen: 0.5,
};
const NARROW = {
  width: 320,
  columns: 2,
  bars: { x: 30, room: 286, down: 19 },
  code: { end: 273, letter: 6.65, indent: 8, look: "listed narrow" },
  row: 19,
  more: 10,
  seen: 8,
};
const [CODE, BAR, ALL] = [30, 10, 16];
const [INLINE, HEAD] = [17, 46]; // heights: of a line of the legend, of the whole

export function draw(state, numbers, { wide, words, title }) {
  const { rows, kinds, ends } = numbers;
  const page = { ...(wide ? WIDE : NARROW), words, shown: state.bars };
  const { width, bars, columns, row, more, seen } = page;
  page.scale = Math.min(bars.room / ends.line, (width - 16) / ends.kernel);
  const under = Math.ceil(kinds.length / columns) * INLINE;
  let y = under + HEAD + 12;
  const listed = rows.map((each) => {
    const top = y;
    y += row + (each.cost * page.scale >= seen ? more : 0);
    return line(each, top, y - top, each === numbers.picked, page);
  });
  return picture({ width, height: y + 4, title, glide: 600 }, [
    legend(kinds, page),
    whole(numbers, under + 4, page),
    listed,
  ]);
}

/** What each kind looks like, and how many there are of it. */
function legend(kinds, { width, columns, words, shown }) {
  const column = width / columns;
  return kinds.map((count, kind) => {
    const [x, y] = [(kind % columns) * column, Math.floor(kind / columns) * INLINE];
    return group(
      {},
      mark(kind, x + 1, y + 3, 20, BAR),
      label(
        words.kinds[kind] + (shown ? ` ${num(count, 1)}` : ""),
        x + 27,
        y + 13,
        "small",
      ),
    );
  });
}

/** All lines together. */
function whole({ kinds, total, fma, picked }, y, { width, words, shown, scale }) {
  const known = { total: num(total, 1), fma: percent(fma) };
  const text = shown ? fill(words.whole, known) : words.all;
  return group(
    { key: "whole", "data-pick-one": "" },
    rect({
      class: `band row ${picked || !shown ? "" : "lit"}`,
      x: 0,
      y,
      width,
      height: HEAD,
    }),
    label(text, 8, y + 17, "small"),
    shown ? stack(kinds, 8, y + 24, ALL, "whole", scale) : "",
  );
}

/** A line of the kernel, and what it costs; or several lines that are folded. */
function line(row, y, height, picked, page) {
  const { key, cost, kinds } = row;
  const { width, bars, shown, scale, seen } = page;
  return group(
    { key: `row${key}`, "data-pick-one": key },
    rect({
      class: `band row ${picked ? "lit" : ""}`,
      x: 0,
      y,
      width,
      height,
    }),
    listed(row, y + 14, page),
    shown && told(row) ? label(num(cost, 1), width - 4, y + 14, "small end") : "",
    shown && cost * scale >= seen
      ? stack(kinds, bars.x, y + bars.down, BAR, key, scale)
      : "",
  );
}

/** A line of Python without its comment. */
const bare = (text) => text.split("  #")[0];

/** What stands in the listing for a row: its text, as far as there is room for it. */
function listed(row, y, { code, words, shown }) {
  const { at, to, depth, text, q } = row;
  const x = CODE + depth * code.indent;
  const room = Math.floor((code.end - x) / code.letter);
  const full = text || fill(at ? words.folded : words.nowhere, { at, to });
  const said = full.length <= room ? full : bare(full);
  const fits = said.length <= room ? said : `${said.slice(0, room - 1)}…`;
  const quiet = `${code.look} quiet`;
  const look = text && (told(row) || !shown) ? code.look : quiet;
  return [
    label(at && text ? at : "", CODE - 6, y, `${quiet} end`),
    label(fits, x, y, { class: look, q }),
  ].join("");
}

/** A bar, a part of it for each kind. */
function stack(kinds, x, y, height, key, scale) {
  let to = x;
  return kinds
    .map((count, kind) => {
      const from = to;
      to += count * scale;
      return count ? mark(kind, from, y, to - from, height, `${key}-${kind}`, x) : "";
    })
    .join("");
}

const CORES = { float: 1, shared: 0.45, global: 0.45, control: 1 }; // shares of a height

/** A piece of a bar, which grows from `start`. Kinds differ in form as well as in
 *  colour: arithmetic is full, memory has a core, bookkeeping is hollow; one of each two
 *  is striped. */
function mark(kind, x, y, width, height, key, start) {
  const look = LOOKS[kind];
  const edge = Math.min(1, width / 3);
  const middle = y + height / 2;
  const [left, right] = [x + edge / 2, x + width - edge / 2];
  const moving = key && { key: `bar${key}`, from: { x: start, width: 0 } };
  const core = {
    class: "core",
    "stroke-width": CORES[look] * (height - 2),
    ...(key && { key: `core${key}`, from: { x1: start, x2: start } }),
  };
  return group(
    { class: `cost ${look}`, key: key && `cost${key}` },
    rect({
      ...moving,
      rx: 0,
      x: left,
      y: y + 0.5,
      width: right - left,
      height: height - 1,
    }),
    CORES[look] ? level(middle, left + edge / 2, right - edge / 2, core) : "",
  );
}

// ---- the words ---------------------------------------------------------------------

/** The kinds of which there is something to tell, largest first. */
function mixed({ kinds, cost }, words) {
  return kinds
    .map((count, kind) => [count, words.kinds[kind]])
    .filter(([count]) => count >= 0.05 && count >= 0.01 * cost)
    .sort(([one], [other]) => other - one)
    .map(([count, name]) => `${name} ${num(count, 1)}`)
    .join(", ");
}

export function say({ rung, bars }, { total, fma, most, picked }, words) {
  const row = picked ?? most;
  const known = {
    rung,
    d: D,
    arch: ARCH,
    total: num(total, 1),
    fma: percent(fma),
    at: row.at,
    to: row.to,
    text: bare(row.text).replace(/:$/, ""),
    cost: num(row.cost, 1),
    share: percent(row.cost / total, 1),
    kinds: mixed(row, words),
  };
  if (picked) {
    const which = row.text ? "sayLine" : row.at ? "sayFold" : "sayNowhere";
    return sentences(
      [words[which], told(row) ? words.sayCost : words.sayNothing],
      known,
    );
  }
  const counted = [words.say, words.sayMost, words[LANGUAGE]];
  return sentences(bars ? counted : [words.sayHidden], known);
}

export function table({ bars }, { rows, kinds, total }, words) {
  const cells = (list) => list.map((x) => num(x, 1));
  const shown = rows.filter((row) => bars && told(row) && row.text);
  return {
    caption: words.tableCaption,
    head: [...words.tableHead, ...words.kinds],
    rows: [
      [words.all, ...cells(bars ? [total, ...kinds] : [])],
      ...shown.map((row) => [
        `${row.at}: ${bare(row.text)}`,
        ...cells([row.cost, ...row.kinds]),
      ]),
    ],
  };
}
