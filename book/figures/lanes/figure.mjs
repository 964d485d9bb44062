// Lanes: the maxima of 16 queries, one instruction after another, in a register of 4 to
// 16 lanes.

import { LANES, N, SCORES } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, line, rect, round, tag } from "livepage/shapes.mjs";
import { fill, num, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const LAYOUTS = ["one", "row", "lane"];
const range = (length) => [...Array(length).keys()];

export function compute({ takes, lanes, step }) {
  const counts = LAYOUTS.map((each) => plan(each, lanes).steps);
  const { steps, turn, rows, ...own } = plan(takes, lanes);
  const at = Math.min(step, steps);
  const done = at && ((at - 1) % turn) + 1; // instructions for these rows
  const first = ((at - done) / turn) * rows;
  const found = range(done === turn ? first + rows : first).map(largest);
  return { steps, at, counts, first, found, rows, ...own, ...work(first, done, own) };
}

/** How many rows a layout takes at once, and how many instructions these rows need. */
function plan(layout, lanes) {
  const width = layout === "one" ? 1 : lanes;
  const turned = layout === "lane";
  const [rows, loads] = turned ? [width, N] : [1, N / width];
  const turn = loads + (turned ? 0 : 2 * Math.log2(width));
  return { width, turned, rows, loads, turn, steps: (N / rows) * turn };
}

const score = ([query, key]) => SCORES[query * N + key];
const largest = (query) => Math.max(...range(N).map((key) => score([query, key])));

/** What the last of `done` instructions has done for the rows from `first` on. */
function work(first, done, { width, turned, loads }) {
  const place = (k) => (c) => (turned ? [first + c, k] : [first, k * width + c]);
  const blank = Array(width).fill(-Infinity);
  let now = { kind: "start", cells: [], operand: [], before: blank, register: blank };
  for (const k of range(done)) {
    const { kind, register } = now;
    const cells = k < loads ? range(width).map(place(k)) : [];
    const next = k < loads ? "load" : kind === "move" ? "compare" : "move";
    const operand = {
      load: () => cells.map(score),
      move: () => register.slice(register.length / 2),
      compare: () => now.operand,
    }[next]();
    const kept = operand.map((x, c) => Math.max(x, register[c]));
    const after = next === "move" ? register : kept;
    now = { kind: next, cells, operand, before: register, register: after };
  }
  return { ...now, seen: Math.min(done, loads) };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  ...{ width: 720, height: 460, wide: true, left: 26, top: 48, pitch: 29, tall: 17 },
  ...{ gap: 32, box: 26, between: 18 },
  bars: { x: 554, y: 72, row: 78, long: 160, drop: 28, over: 0 },
};
const NARROW = {
  ...{ width: 320, height: 470, wide: false, left: 20, top: 42, pitch: 17, tall: 13 },
  ...{ gap: 29, box: 22, between: 16 },
  bars: { x: 0, y: 424, row: 21, long: 68, drop: -12, over: 148 },
};

export function draw(state, numbers, { wide, words, title, was, waiting }) {
  const page = wide ? WIDE : NARROW;
  const upper = page.top + N * page.tall + page.gap;
  const lower = upper + page.box + page.between;
  const base = numbers.turned ? numbers.first : 0; // the column of the first lane
  const scene = { ...page, ...numbers, ...state, words, waiting, upper, lower, base };
  const turns = was && (was.takes === "lane") !== numbers.turned;
  return picture({ ...page, title, glide: turns ? 800 : 240 }, [
    label(words.tile[state.takes], 0, 13, { class: "caption", q: "s" }),
    light(scene),
    tile(scene, turns),
    registers(scene),
    maxima(scene),
    bars(scene),
  ]);
}

/** Where a score stands: its row is its query, or its key. */
const spot = ([query, key], { turned, left, top, pitch, tall }) => {
  const [c, r] = turned ? [query, key] : [key, query];
  return { x: left + c * pitch, y: top + r * tall };
};

/** The queries at work, and the way of the compared scores to their lanes. */
function light(scene) {
  const { cells, first, rows, turned, left, upper, pitch, tall, base } = scene;
  const size = turned ? [rows * pitch, N * tall] : [N * pitch, tall];
  const band = { ...spot([first, 0], scene), width: size[0], height: size[1] };
  const lit = rect({ key: "band", class: "band lit", rx: 0, ...band });
  if (!cells.length) return lit;
  const { x, y } = spot(cells[0], scene);
  const [wide, to] = [cells.length * pitch, left + base * pitch];
  const points = [x, y + tall, x + wide, y + tall, to + wide, upper, to, upper];
  const way = `M${points.map(round).join(" ")}Z`;
  return [
    lit,
    tag("path", { key: "way", class: "band lit", d: way }),
    tag("path", {
      key: "scope",
      class: "scope",
      d: `M${x} ${y}h${wide}v${tall}h${-wide}z`,
    }),
  ];
}

/** The scores, and the numbers of their rows and columns. */
function tile(scene, turns) {
  const { wide, left, top, pitch, tall, turned, first, rows, cells, width } = scene;
  const lit = (from, count, k) =>
    k >= from && k < from + count ? "small lit" : "small";
  const ofQuery = (k) => lit(first, rows, k);
  const ofKey = (k) =>
    cells.length ? lit(cells[0][1], turned ? 1 : width, k) : "small";
  const [ofRow, ofColumn] = turned ? [ofKey, ofQuery] : [ofQuery, ofKey];
  const base = (r) => top + (r + 1) * tall - (wide ? 4 : 2.5);
  return group(
    { class: wide ? "scores" : "scores slim", q: "s" },
    ...range(N).map((r) => label(`${r + 1}`, left - 6, base(r), `${ofRow(r)} end`)),
    ...range(N)
      .filter((c) => wide || c % 4 === 3)
      .map((c) =>
        label(`${c + 1}`, left + (c + 0.5) * pitch, top - 6, `${ofColumn(c)} middle`),
      ),
    ...range(N).map((r) => (turns ? apart : together)(r, base, scene)),
  );
}

/** A row as one text, which is drawn sooner than sixteen: each digit has its place. */
function together(
  r,
  base,
  { wide, left, pitch, turned, first, cells, found, seen, ...own },
) {
  const scores = range(N).map((c) => score(turned ? [c, r] : [r, c]));
  const ofRow = cells.filter(([query, key]) => (turned ? key : query) === r).length;
  const inGroup = turned
    ? first + (r < seen ? own.rows : 0)
    : r === first && seen * own.width;
  const done = !turned && r < found.length ? N : inGroup;
  const digit = wide ? 4 : 3.4;
  const places = range(N).map((c) => left + (c + 0.5) * pitch);
  const part = (look, ...ends) => {
    const text = scores.slice(...ends).join("");
    return text && tag("tspan", { class: look }, text);
  };
  const x = places.flatMap((x) => [round(x - digit), round(x + digit)]).join(" ");
  const parts = [
    part("used", 0, done - ofRow),
    part("hand", done - ofRow, done),
    part(null, done),
  ];
  return tag(
    "text",
    { key: `row${r}`, class: "middle", x, y: base(r) },
    parts.join(""),
  );
}

/** A row as sixteen texts, which come from where they stood before the tile turned. */
function apart(r, base, { left, pitch, turned }) {
  const middle = (c) => left + (c + 0.5) * pitch;
  return range(N)
    .map((c) => {
      const from = { x: middle(r), y: base(c) };
      const at = turned ? [c, r] : [r, c];
      return label(`${score(at)}`, middle(c), base(r), {
        ...{ key: `s${at.join("-")}`, class: "middle", from },
      });
    })
    .join("");
}

/** What is compared, above; the register of maxima, below; a lane in each column. */
function registers(scene) {
  const { words, lanes, kind, operand, register, before, upper, lower, wide } = scene;
  const { left, pitch, box, first, at, cells } = scene;
  const x = (c) => left + (scene.base + c) * pitch;
  const middle = (c) => x(c) + pitch / 2;
  const frame = (name, y, look) => (c) =>
    rect({
      ...{ key: `${name}${c}`, class: look(c) },
      ...{ x: x(c) + 1, y, width: pitch - 2, height: box },
    });
  const number = (y, look) => (text, c) =>
    label(text, middle(c), y + box / 2 + 5, {
      ...look(c),
      class: `middle ${look(c).class}`,
    });
  const half = operand.length;
  const start = (c) => {
    if (!cells.length) return { x: middle(c + half), y: lower + box / 2 + 5 };
    const { x: from, y } = spot(cells[c], scene);
    return { x: from + pitch / 2, y: y + scene.tall };
  };
  const stamp = kind === "compare" ? at - 1 : at; // a compared number stays where it is
  const fresh = (c) => ({ key: `o${stamp}-${c}`, class: "strong", from: start(c) });
  const rose = (c) => kind !== "start" && register[c] > before[c];
  const wire = (c) =>
    line({
      ...{ class: "wire", x1: middle(c), y1: upper + box, y2: lower },
      x2: middle(kind === "move" ? c + half : c),
    });
  const free = "score unseen";
  const inside = wide ? "" : "scores slim";
  return [
    label(
      words.does[scene.takes === "one" && half ? "one" : kind],
      left,
      upper - 10,
      "strong",
    ),
    label("s", left - 6, upper + box / 2 + 4, "small end"),
    label("m", left - 6, lower + box / 2 + 4, "small end"),
    range(half).map(wire),
    range(lanes).map(frame("u", upper, (c) => (c < half ? "kept" : free))),
    range(lanes).map(
      frame("r", lower, (c) =>
        c >= register.length ? free : rose(c) ? "record" : "kept",
      ),
    ),
    group({ q: "s", class: inside }, ...operand.map(String).map(number(upper, fresh))),
    group(
      { q: "m", class: inside },
      ...register
        .map((m) => num(m, 0))
        .map(number(lower, (c) => ({ key: `m${first}-${c}`, class: "max" }))),
    ),
    group(
      { class: inside },
      ...range(lanes).map((c) =>
        label(`${c + 1}`, middle(c), lower + box + 14, "small middle"),
      ),
    ),
    label(words[wide ? "lanes" : "short"], left, lower + box + 30, "caption"),
  ];
}

/** The maxima that are found, beside the rows of their queries or below the columns. */
function maxima(scene) {
  const { found, turned, left, pitch, tall, lower, box, top } = scene;
  const beside = left + (N + 0.55) * pitch;
  const one = (m, query) => {
    const { x, y } = spot([query, 0], scene);
    const [to, at] = turned
      ? [x + pitch / 2, lower + box / 2 + 5]
      : [beside, y + tall - 4];
    return label(`${m}`, to, at, { key: `f${query}`, class: "max middle" });
  };
  const inHand = turned && scene.seen === N ? scene.first : N; // still in the register
  return group(
    { q: "m", class: scene.wide ? "" : "scores slim" },
    turned ? "" : label("m", beside, top - 6, "small middle"),
    ...found.map((m, query) => (query < inHand ? one(m, query) : "")),
  );
}

/** How many instructions each layout takes, and how far this one has come. */
function bars({
  bars: { x, y, row, long, drop, over },
  counts,
  at,
  takes,
  words,
  waiting,
  wide,
}) {
  const one = (name, k) => {
    const own = name === takes;
    const [from, line] = [x + over, y + k * row];
    const size = (count) => (count / counts[0]) * long;
    const bar = (key, count, look) =>
      rect({
        key,
        class: look,
        x: from,
        y: line + drop,
        width: size(count),
        height: 14,
      });
    const hidden = waiting && !own;
    const many = own ? fill(words.of, { at, steps: counts[k] }) : `${counts[k]}`;
    const after = wide ? x : from + (hidden ? 0 : size(counts[k]) + 7);
    return [
      label(words.choices[name], x, line, own ? "small lit" : "small"),
      hidden ? "" : bar(`b${k}`, counts[k], own ? "kept" : "weight old"),
      own ? bar(`done${k}`, at, "weight new") : "",
      label(hidden ? "?" : many, after, line + (wide ? 21 : 0), "strong"),
    ].join("");
  };
  return [label(words.count, x, y - 24, "caption"), ...LAYOUTS.map(one)];
}

// ---- the words ---------------------------------------------------------------------

export function say({ takes, lanes }, numbers, words) {
  const { kind, at, steps, first, seen, register, operand, found } = numbers;
  const values = {
    ...{ at, steps, lanes, query: first + 1, key: seen, left: register.length },
    ...{ m: found.at(-1), count: found.length, live: 2 * operand.length },
  };
  const last = kind === "compare" && register.length === 1;
  const what = words.say[kind === "load" ? takes : last ? "last" : kind];
  const end = at === steps ? words.say.end : "";
  return sentences([what, end], values);
}

/** How many instructions, for each width. */
export function table(_, __, words) {
  const rows = LANES.map((lanes) => [
    lanes,
    ...LAYOUTS.map((each) => plan(each, lanes).steps),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
