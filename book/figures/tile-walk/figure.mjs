// The walk over the table of scores: which tiles are computed, in which order, and
// which are never touched.

import { KINDS, SQUARES } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect, tag } from "livepage/shapes.mjs";
import { fill, grouped, percent } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const [NEAR, REAL, DOCUMENTS] = [4, 11, [0, 5, 12, 16]]; // all in squares

export function compute({ n, mask, rows, columns, order, step }) {
  const unit = n / SQUARES;
  const sees = interval(mask, n, unit);
  const [down, across] = [cut(n, rows * unit), cut(n, columns * unit)];
  const tiles = down.flatMap((r, i) =>
    across.map((k, j) => ({ i, j, rows: r, keys: k, kind: kind(sees, r, k) })),
  );
  if (order === "keys") tiles.sort((a, b) => a.j - b.j || a.i - b.i);
  const met = tiles.slice(0, step);
  const done = met.filter((tile) => tile.kind !== "none");
  const area = done.reduce((sum, { rows: r, keys: k }) => sum + size(r) * size(k), 0);
  const pairs = Array.from({ length: n }, (_, i) => Math.max(0, size(sees(i))));
  const all = n * n;
  return {
    tiles,
    done,
    steps: tiles.length,
    sees,
    unit,
    now: met[met.length - 1] ?? null,
    counts: KINDS.map((k) => met.filter((tile) => tile.kind === k).length),
    work: area / all,
    seen: pairs.reduce((sum, each) => sum + each, 0) / all,
    carried:
      order === "keys"
        ? [changes(done, "j"), done.length]
        : [done.length, changes(done, "i")],
  };
}

/** Which keys a query sees: those from the first number up to the second. */
function interval(mask, n, unit) {
  if (mask === "causal") return (i) => [0, i + 1];
  if (mask === "recent") return (i) => [Math.max(0, i - NEAR * unit), i + 1];
  if (mask === "padded") return () => [0, REAL * unit];
  if (mask === "packed")
    return (i) => {
      const k = DOCUMENTS.findIndex((end) => i < end * unit);
      return [DOCUMENTS[k - 1] * unit, DOCUMENTS[k] * unit];
    };
  return () => [0, n];
}

/** All, some or none of a tile, from its first row and its last. */
function kind(sees, [top, bottom], [left, right]) {
  const [[first, firstStop], [lastFirst, stop]] = [sees(top), sees(bottom - 1)];
  if (stop <= left || first >= right) return "none";
  return lastFirst <= left && right <= firstStop ? "all" : "some";
}

function cut(n, block) {
  const part = (_, i) => [i * block, Math.min(n, (i + 1) * block)];
  return Array.from({ length: Math.ceil(n / block) }, part);
}

const size = ([from, to]) => to - from;
const changes = (walk, axis) =>
  walk.filter((tile, at) => !at || tile[axis] !== walk[at - 1][axis]).length;

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 404,
  x: 30,
  y: 36,
  side: 360,
  panel: { x: 424, y: 60 },
};
const NARROW = {
  width: 320,
  height: 590,
  x: 24,
  y: 36,
  side: 290,
  panel: { x: 8, y: 366 },
};

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words, scale: 0 };
  page.scale = page.side / state.n;
  return picture({ ...page, title, glide: 350 }, [
    plane(state, numbers, page),
    tiles(state, numbers, page),
    hand(numbers, page),
    panel(state, numbers, page),
  ]);
}

/** The table of scores from above, and in it the pairs that are seen. */
function plane({ n }, { sees }, { x, y, side, scale, words }) {
  const strip = Math.max(1, n >> 6);
  const strips = Array.from({ length: Math.ceil(n / strip) }, (_, k) => {
    const [first, stop] = sees(Math.min(n - 1, k * strip + (strip >> 1)));
    const [left, right] = [edge(x, first, scale), edge(x, stop, scale)];
    return `M${left} ${edge(y, k * strip, scale)}H${right}v${strip * scale}H${left}z`;
  });
  return [
    label(words.keys, x, 14, "caption"),
    label("1", x + 2, y - 7, "small"),
    label(grouped(n), x + side, y - 7, "small end"),
    label(words.queries, 0, 0, {
      class: "caption end",
      transform: `translate(${x - 10} ${y}) rotate(-90)`,
    }),
    rect({ class: "plane", rx: 0, x, y, width: side, height: side }),
    tag("path", { class: "seen", q: "s", d: strips.join("") }),
  ];
}

const edge = (from, token, scale) => Math.round((from + token * scale) * 10) / 10;

/** Every tile: those that were computed are filled and counted, skipped ones dashed. */
function tiles({ step }, { tiles: all, done }, page) {
  return all.map((tile, place) => {
    const at = done.indexOf(tile) + 1;
    const look = place < step ? tile.kind : "todo";
    const box = frame(tile, page);
    const roomy = box.width >= 25 && box.height >= 17;
    return [
      rect({ key: `t${tile.i}-${tile.j}`, class: `tile ${look}`, rx: 0, ...box }),
      at && roomy
        ? label(String(at), box.x + box.width / 2, box.y + box.height / 2 + 5, {
            key: `n${tile.i}-${tile.j}`,
            class: "small middle halo",
          })
        : "",
    ].join("");
  });
}

function frame({ rows, keys }, { x, y, scale }, inset = 0) {
  return {
    x: x + keys[0] * scale + inset,
    y: y + rows[0] * scale + inset,
    width: size(keys) * scale - 2 * inset,
    height: size(rows) * scale - 2 * inset,
  };
}

/** The outline of the current tile. */
function hand({ now }, page) {
  if (!now) return "";
  return rect({ key: "hand", class: "tile hand", rx: 0, ...frame(now, page, 1) });
}

/** How many tiles of each kind, what share of the work that is, and what is carried. */
function panel({ n, rows, columns, order }, numbers, { panel: { x, y }, words }) {
  const { counts, work, seen, carried, unit } = numbers;
  const box = { rx: 0, x, width: 18, height: 18 };
  const row = (k) => [
    rect({ key: `box${k}`, class: `tile ${KINDS[k]}`, ...box, y: y + 16 + 26 * k }),
    label(`${grouped(counts[k])} ${words.kinds[k]}`, x + 28, y + 30 + 26 * k, {
      key: `count${k}`,
    }),
  ];
  const tile = fill(words.tile, {
    rows: grouped(Math.min(n, rows * unit)),
    keys: grouped(Math.min(n, columns * unit)),
  });
  const held = order === "keys" ? [1, 0] : [0, 1];
  return [
    label(tile, x, y, { key: "size", class: "strong" }),
    [0, 1, 2].map(row),
    share("work", work, y + 118, "weight new", words, x),
    share("seen", seen, y + 152, "seen", words, x),
    held.map((k, at) =>
      label(
        fill(words.carried[k], { count: grouped(carried[k]) }),
        x,
        y + 196 + 20 * at,
        { key: `carried${at}`, class: "small" },
      ),
    ),
  ];
}

const FULL = 280;

function share(name, part, y, look, words, x) {
  return group(
    { key: `${name}-share`, q: name === "seen" ? "s" : "p" },
    rect({ key: `${name}-rest`, class: "rest", x, y, width: FULL, height: 10 }),
    rect({ key: name, class: look, x, y, width: FULL * part, height: 10 }),
    label(fill(words[name], { share: percent(part, 1) }), x, y - 6, {
      key: `${name}-text`,
      class: "small",
    }),
  );
}

// ---- the words ---------------------------------------------------------------------

/** Places from first to last, in the words for one place or for several. */
const span = ([from, to], [one, several]) =>
  fill(from + 1 === to ? one : several, { from: grouped(from + 1), to: grouped(to) });

export function say({ step }, { now, steps, counts, work, seen }, words) {
  const values = {
    all: counts[0],
    some: counts[1],
    none: counts[2],
    work: percent(work, 1),
    seen: percent(seen, 1),
    steps,
  };
  if (!now) return fill(words.sayStart, values);
  const tile = {
    rows: span(now.rows, words.rows),
    columns: span(now.keys, words.columns),
  };
  const met = `${fill(words.sayTile, tile)} ${words.sayKind[KINDS.indexOf(now.kind)]}`;
  return step < steps ? met : `${met} ${fill(words.sayEnd, values)}`;
}

export function table(_, { tiles: all }, words) {
  const rows = [...new Set(all.map(({ i }) => i))]
    .sort((a, b) => a - b)
    .map((i) => {
      const own = all.filter((tile) => tile.i === i);
      const count = (kind) => own.filter((tile) => tile.kind === kind).length;
      return [
        span(own[0].rows, words.span),
        count("all"),
        count("some"),
        count("none"),
      ];
    });
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
