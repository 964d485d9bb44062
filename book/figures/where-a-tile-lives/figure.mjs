// What a block and a tile use, thing by thing, in places that lie inside each other: a
// bar that ends within a place fits there.

import { CORES } from "livepage/constants";
import { picture, scale } from "livepage/picture.mjs";
import { group, label, rect, upright } from "livepage/shapes.mjs";
import { fill, grouped, num, sentences, tidy } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ block, tile, d, n, core }) {
  const levels = [CORES[core][0] / KIB, ...CORES[core].slice(1)];
  const used = [block * d, block * d, block * tile, 2 * tile * d];
  const together = used.reduce((sum, count) => sum + count, 0);
  const counts = [2 * d, ...used, together, 2 * n * d, n * n];
  const sizes = counts.map((count) => (4 * count) / KIB);
  const first = (size) => levels.filter((level) => size > level).length;
  // Registers hold one query at a time, and nothing that is larger.
  const places = sizes.map((size, i) => Math.max(i ? 1 : 0, first(size)));
  return { levels, sizes, places };
}

const KIB = 1024;
const TOGETHER = 5; // its place among the sizes

// ---- the picture -------------------------------------------------------------------

const ENDS = [-4, 20]; // doublings of a KiB: from 64 bytes to 1 GiB
const HEAD = 17; // a line for the name of each place
const WIDE = {
  width: 720,
  height: 446,
  left: 152,
  end: 600, // of the axis; memory goes on
  right: 718,
  first: 122,
  step: 35,
  tall: 18,
  low: 412,
};
const NARROW = {
  width: 320,
  height: 470,
  left: 2,
  end: 318,
  right: 318,
  first: 126,
  step: 38,
  tall: 11,
  low: 436,
};
const Q = [null, null, "o", "s", null, null, null, "s"];

export function draw(state, numbers, { wide, words, title }) {
  const page = wide ? WIDE : NARROW;
  const along = scale(...ENDS, page.left, page.end);
  const scene = { ...page, x: (kib) => along(Math.log2(kib)), along, words, wide };
  return picture({ ...page, title, glide: 450 }, [
    nested(numbers, scene),
    axis(scene),
    bars(numbers, scene),
  ]);
}

/** The places, each inside the next; its name stands in a line of its own. */
function nested({ levels }, { x, left, right, low, words }) {
  const outer = { key: "memory", name: words.memory, end: right, rank: 0 };
  const inner = levels.map((kib, i) => ({
    key: `l${i}`,
    name: fill(words.place, { name: words.places[i], size: size(kib) }),
    end: x(kib),
    rank: levels.length - i,
  }));
  return [outer, ...inner.toReversed()].map(({ key, name, end, rank }) => {
    const top = HEAD * rank + 4;
    const roomy = end - left > 7.2 * name.length;
    return [
      rect({
        key,
        class: `band place ${key}`,
        x: left,
        y: top,
        width: end - left,
        height: low - 4 * rank - top,
      }),
      label(name, roomy ? end - 6 : left + 5, top + 14, {
        key: `${key}-name`,
        class: `small halo${roomy ? " end" : ""}`,
      }),
    ];
  });
}

function axis({ along, low, wide }) {
  const named = wide ? [-4, 0, 5, 10, 15, 20] : [0, 5, 10, 15];
  return named.map((power) => {
    return [
      upright(along(power), low, low + 5, "axis"),
      label(size(2 ** power), along(power), low + 22, "small middle"),
    ];
  });
}

/** A bar for each thing, with its name and its size. */
function bars({ sizes, places, levels }, scene) {
  const { x, left, first, step, tall, words, wide } = scene;
  return sizes.map((kib, i) => {
    const y = first + i * step;
    const look = i === TOGETHER ? "strong halo" : "small halo";
    const end = x(kib);
    const where = fill(words.lives, {
      size: size(kib),
      place: home(places[i], levels, words),
    });
    const bar = rect({
      key: `bar${i}`,
      class: `lives ${["near", "near", "shelf"][places[i]] ?? "far"}`,
      x: left,
      y,
      width: end - left,
      height: tall,
    });
    const names = wide
      ? [
          label(words.things[i], left - 8, y + 14, `${look} end`),
          label(where, end + 7, y + 14, look),
        ]
      : [label(`${words.things[i]}: ${where}`, left + 4, y - 8, look)];
    return group({ q: Q[i] }, bar, ...names);
  });
}

const home = (place, levels, words) =>
  place < levels.length ? words.places[place] : words.memory;

// ---- the words ---------------------------------------------------------------------

/** KiB as a reader says them: 256 B, 1.5 KiB, 64 MiB, 1 GiB. */
function size(kib) {
  if (kib < 1) return `${num(KIB * kib, 0)} B`;
  if (kib < KIB) return `${tidy(kib)} KiB`;
  return kib < KIB * KIB ? `${tidy(kib / KIB)} MiB` : `${tidy(kib / KIB / KIB)} GiB`;
}

export function say({ block, tile, d, n }, { sizes, places, levels }, words) {
  const at = (i) => home(places[i], levels, words);
  const [q, o, s, kv] = sizes.slice(1, TOGETHER).map(size);
  const alone = Math.max(...places.slice(1, TOGETHER));
  const values = {
    block: grouped(block),
    tile: grouped(tile),
    d,
    n: grouped(n),
    q,
    o,
    s,
    kv,
    together: size(sizes[TOGETHER]),
    lot: at(TOGETHER),
    alone: home(alone, levels, words),
    whole: size(sizes[6]),
    table: size(sizes[7]),
    far: at(7),
  };
  const crowded = alone < places[TOGETHER];
  return sentences(
    [words.say, crowded ? words.sayCrowded : words.sayFits, words.sayTable],
    values,
  );
}

export function table(_, { sizes, places, levels }, words) {
  const rows = sizes.map((kib, i) => [
    words.things[i],
    size(kib),
    home(places[i], levels, words),
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
