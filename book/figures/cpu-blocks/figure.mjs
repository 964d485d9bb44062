// How long each block and each tile took: a table of bars, and the same times by how
// much is used again and again, beside the caches of the machine.

import { BLOCKS, D, N, TILES } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { circle, group, label, level, rect, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences, tidy } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ block, tile, times, caches }) {
  const cells = BLOCKS.flatMap((queries, i) =>
    TILES.map((keys, j) => {
      const total = sum(kib(queries, keys));
      const place = caches.filter((size) => total > size).length;
      return { queries, keys, total, place, ms: times[i * TILES.length + j] };
    }),
  );
  const chosen = cells.find(({ queries, keys }) => queries === block && keys === tile);
  const best = cells.reduce((one, other) => (other.ms < one.ms ? other : one));
  return {
    cells,
    chosen,
    ms: chosen.ms,
    best: [best.queries, best.keys, best.ms],
    ratio: chosen.ms / best.ms,
    rank: 1 + cells.filter(({ ms }) => ms < chosen.ms).length,
    parts: kib(block, tile),
    total: chosen.total,
    fetched: Math.ceil(N / block),
    totals: cells.map(({ total }) => total),
    places: cells.map(({ place }) => place),
  };
}

const sum = (numbers) => numbers.reduce((all, x) => all + x, 0);

/** KiB of queries, outputs, scores, keys and values. */
const kib = (queries, keys) =>
  [queries * D, queries * D, queries * keys, 2 * keys * D].map(
    (count) => (4 * count) / 1024,
  );

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 452,
  table: { left: 56, top: 62, right: 411, low: 338 },
  legend: [58, 358, 118],
  plot: { left: 500, right: 704, high: 62, low: 332, caption: 458 },
  parts: { x: 0, y: 424, step: 144, across: 5 },
};
const NARROW = {
  width: 320,
  height: 584,
  table: { left: 50, top: 54, right: 320, low: 252 },
  legend: [8, 271, 102],
  plot: { left: 36, right: 306, high: 324, low: 440, caption: 0 },
  parts: { x: 0, y: 508, step: 107, across: 3 },
};
const PLACES = ["near", "shelf", "far"];

export function draw(state, numbers, { wide, words, title }) {
  const scene = { ...(wide ? WIDE : NARROW), words, wide, state };
  return picture({ ...scene, title, glide: 450 }, [
    bars(numbers, scene),
    legend(numbers, scene),
    cloud(numbers, scene),
    account(numbers, scene),
  ]);
}

const isShown = (cell, { chosen }, { all }) => all || cell === chosen;

/** A cell for each block and tile: its time, and a bar as long as the time. */
function bars(numbers, { table: { left, top, right, low }, words, state }) {
  const [w, h] = [(right - left) / TILES.length, (low - top) / BLOCKS.length];
  const { cells, chosen, best } = numbers;
  const longest = Math.max(...cells.map(({ ms }) => ms));
  const cell = (each) => {
    const [x, y] = [TILES.indexOf(each.keys), BLOCKS.indexOf(each.queries)];
    const [at, to] = [left + x * w, top + y * h];
    const shown = isShown(each, numbers, state);
    const isBest = state.all && each.queries === best[0] && each.keys === best[1];
    return [
      rect({ class: "band", x: at + 2, y: to + 2, width: w - 4, height: h - 4 }),
      rect({
        key: `bar${x}-${y}`,
        class: `lives ${PLACES[each.place]}`,
        x: at + 6,
        y: to + h - 12,
        width: shown ? ((w - 12) * each.ms) / longest : 0,
        height: 6,
      }),
      label(shown ? num(each.ms, 1) : "", at + w / 2, to + h / 2 + 1, {
        class: isBest ? "truth middle" : "middle",
        style: "font-size:13px",
      }),
      isBest ? frame("best", at, to, w, h, "truth") : "",
      each === chosen ? frame("chosen", at, to, w, h, "ink") : "",
    ];
  };
  const name = (text, x, y, look, lit) =>
    label(grouped(text), x, y, `${look}${lit ? " lit" : ""}`);
  return [
    label(words.times, 0, 14, "caption"),
    label(words.tiles, right, top - 26, "caption end"),
    label(words.blocks, 0, top - 26, "caption"),
    TILES.map((tile, j) =>
      name(tile, left + (j + 0.5) * w, top - 6, "small middle", tile === state.tile),
    ),
    BLOCKS.map((block, i) =>
      name(
        block,
        left - 8,
        top + (i + 0.5) * h + 5,
        "small end",
        block === state.block,
      ),
    ),
    cells.map(cell),
  ];
}

/** A frame around a cell; the chosen one's glides. */
const frame = (key, x, y, w, h, colour) =>
  rect({
    key,
    style: `fill:none;stroke:var(--${colour});stroke-width:2`,
    x: x + 1,
    y: y + 1,
    width: w - 2,
    height: h - 2,
  });

/** Which colour stands for which place. */
function legend(_, { legend: [left, y, step], words, state }) {
  return words.places.map((name, i) => [
    rect({
      class: `lives ${PLACES[i]}`,
      x: left + i * step,
      y: y - 10,
      width: 11,
      height: 11,
    }),
    label(fill(name, sizes(state)), left + i * step + 17, y, "small"),
  ]);
}

const sizes = ({ caches: [l1, l2] }) => ({ l1: size(l1), l2: size(l2) });
const size = (kb) => (kb < 1024 ? `${kb} KiB` : `${tidy(kb / 1024)} MiB`);

/** A dot for each time, by how much is used again and again. */
function cloud(numbers, { plot, words, state, wide }) {
  const { cells, chosen } = numbers;
  const { left, right, high, low } = plot;
  const all = [...cells.map(({ total }) => total), ...state.caches];
  const ends = [
    Math.floor(power(Math.min(...all))),
    Math.ceil(power(Math.max(...all))),
  ];
  const along = scale(...ends, left, right);
  const x = (total) => along(power(total));
  const longest = Math.max(...cells.map(({ ms }) => ms));
  const step = nice(longest / 5);
  const y = scale(0, 1.08 * longest, low, high);
  const levels = [0, 1, 2, 3, 4, 5].map((k) => k * step).filter((ms) => ms < longest);
  const powers = cells.map((_, k) => ends[0] + 1 + 3 * k).filter((k) => k < ends[1]);
  return [
    label(words.cloud, plot.caption, high - (wide ? 48 : 30), "caption"),
    levels.map((ms) => [
      level(y(ms), left, right, ms ? "grid" : "axis"),
      label(grouped(ms), left - 6, y(ms) + 4, "small end"),
    ]),
    powers.map((k) => [
      upright(along(k), low, low + 5, "axis"),
      label(size(2 ** k), along(k), low + 20, "small middle"),
    ]),
    state.caches.map((kb, i) => [
      upright(x(kb), high - 6, low, "even"),
      label(`L${i + 1}`, x(kb), high - 11, "small middle"),
    ]),
    cells
      .filter((each) => isShown(each, numbers, state))
      .map((each) =>
        circle(x(each.total), y(each.ms), 4, {
          key: `dot${each.queries}-${each.keys}`,
          class: `lives ${PLACES[each.place]}`,
        }),
      ),
    circle(x(chosen.total), y(chosen.ms), 7.5, {
      key: "here",
      style: "fill:none;stroke:var(--ink);stroke-width:2",
    }),
  ];
}

const power = (x) => Math.log2(Math.max(1, x));

/** The least of 1, 2 or 5 times a power of ten that is no smaller. */
function nice(x) {
  const ten = 10 ** Math.floor(Math.log10(x));
  return [1, 2, 5, 10].find((k) => k * ten >= x) * ten;
}

/** What the chosen block uses again and again, thing by thing. */
function account({ parts, total }, { parts: { x, y, step, across }, words }) {
  const things = [...parts, total];
  return [
    label(words.again, 0, y - 22, "caption"),
    things.map((kb, i) => {
      const at = [x + (i % across) * step, y + Math.floor(i / across) * 44];
      return group(
        { q: [null, "o", "s"][i] },
        label(words.parts[i], ...at, "small"),
        label(
          `${amount(kb)} KiB`,
          at[0],
          at[1] + 20,
          i === parts.length ? "strong" : "",
        ),
      );
    }),
  ];
}

// ---- the words ---------------------------------------------------------------------

const amount = (kb) => (Number.isInteger(kb) ? grouped(kb) : num(kb, 1));

export function say(state, { cells, chosen, best, ratio, rank, fetched }, words) {
  const values = {
    ...sizes(state),
    queries: grouped(state.block),
    keys: grouped(state.tile),
    ms: num(chosen.ms, 1),
    bestQueries: grouped(best[0]),
    bestKeys: grouped(best[1]),
    least: num(best[2], 1),
    ratio: num(ratio, 2),
    rank,
    all: cells.length,
    fetched,
    total: amount(chosen.total),
  };
  const among = rank === 1 ? words.sayBest : words.sayAmong;
  return sentences(
    [words.say, state.all && among, words.sayParts, words.sayPlace[chosen.place]],
    values,
  );
}

export function table(state, numbers, words) {
  const rows = BLOCKS.map((block) => [
    grouped(block),
    ...numbers.cells
      .filter((each) => each.queries === block)
      .map((each) => (isShown(each, numbers, state) ? num(each.ms, 1) : "–")),
  ]);
  const head = TILES.map((tile) => fill(words.tableKeys, { keys: grouped(tile) }));
  return { caption: words.tableCaption, head: [words.tableQueries, ...head], rows };
}
