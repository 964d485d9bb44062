// The merge tree: any two states may merge next; the answer changes in its last bits at
// most, and those only sometimes.

import { fading, picture } from "livepage/picture.mjs";
import { circle, group, label, level, rect, tag, upright } from "livepage/shapes.mjs";
import { fill, num, sentences, show } from "livepage/text.mjs";

const SIZE = 3; // scores in a chunk

// ---- the numbers: single precision, each operation rounded ---------------------------

const f32 = Math.fround;
const shift = (m) => (m === -Infinity ? 0 : m);

export function compute({ scores, values, masked, merges }) {
  const chunks = chunked(scores, values);
  if (masked)
    chunks.push({ scores: [-Infinity, -Infinity, -Infinity], values: [0, 0, 0] });
  const leaves = chunks.map(leaf(f32));
  const { roots, nodes } = grown(leaves, merges);
  const truth = exactly(scores, values);
  const result = roots.length === 1 ? ending(roots[0], truth.near) : null;
  return {
    chunks,
    leaves,
    roots,
    nodes,
    truth,
    result,
    last: nodes[nodes.length - 1] ?? null,
    items: roots.map(({ key, name }) => ({ key, text: name })),
    ...everyEnd(scores, values, truth.near),
  };
}

function chunked(scores, values) {
  const count = Math.ceil(scores.length / SIZE);
  const part = (list, k) => list.slice(k * SIZE, (k + 1) * SIZE);
  return Array.from({ length: count }, (_, k) => ({
    scores: part(scores, k),
    values: part(values, k),
  }));
}

/** The state of one chunk, added up from left to right, each operation rounded. */
const leaf =
  (round) =>
  ({ scores, values }, k) => {
    const m = Math.max(...scores.map(f32));
    let [l, o] = [0, 0];
    scores.forEach((s, i) => {
      const w = round(Math.exp(round(f32(s) - shift(m))));
      l = round(l + w);
      if (w > 0) o = round(o + round(w * f32(values[i])));
    });
    const key = String.fromCharCode(65 + k);
    return { key, name: key, members: [k], height: 0, m, l, o };
  };

function merge(a, b) {
  const m = Math.max(a.m, b.m);
  const [alphaA, alphaB] = [a, b].map((side) => f32(Math.exp(f32(side.m - shift(m)))));
  const both = (x, y) => f32(f32(alphaA * x) + f32(alphaB * y));
  return { m, l: both(a.l, b.l), o: both(a.o, b.o), alphaA, alphaB };
}

/** Merge pair after pair, "AC" meaning: the group of A with the group of C. */
function grown(leaves, merges) {
  const [roots, nodes] = [[...leaves], []];
  for (const pair of merges.split(".").filter(Boolean)) {
    const among = (letter) => roots.findIndex(({ name }) => name.includes(letter));
    const [i, j] = [...pair].map(among).sort((a, b) => a - b);
    if (i < 0 || i === j) continue;
    const [a, b] = [roots[i], roots[j]];
    const node = {
      ...merge(a, b),
      a,
      b,
      key: a.key,
      name: a.name + b.name,
      members: [...a.members, ...b.members],
      height: 1 + Math.max(a.height, b.height),
    };
    roots.splice(j, 1);
    roots[i] = node;
    nodes.push(node);
  }
  return { roots, nodes };
}

/** The answer in double precision, the float nearest to it, and the rest in floats. */
function exactly(scores, values) {
  const { m, l, o } = leaf((x) => x)({ scores, values }, 0);
  const y = o / (l || 1);
  const near = f32(y);
  const part = (y - near) * 2 ** (23 - Math.floor(Math.log2(Math.abs(near) || 1)));
  return { m, l, y, near, part: Number(part.toFixed(3)) };
}

/** Where a tree ends: the answer, its bits, and how far from the nearest float. */
function ending({ l, o }, near) {
  const y = l > 0 ? f32(o / l) : 0;
  return { y, off: floatNumber(y) - floatNumber(near) };
}

/** Which float it is, counted from 0. */
function floatNumber(y) {
  const raw = new Int32Array(new Float32Array([y + 0]).buffer)[0];
  return raw < 0 ? -2147483648 - raw : raw;
}

/** How many of all trees end at each float: [[off, count], …]. */
function everyEnd(scores, values, near) {
  const counts = new Map();
  const states = chunked(scores, values).map(leaf(f32)); // a masked chunk changes nothing
  const results = outcomes(states);
  for (const { off } of results.map((each) => ending(each, near))) {
    counts.set(off, (counts.get(off) ?? 0) + 1);
  }
  const ends = [...counts].sort((a, b) => a[0] - b[0]);
  return { ends, trees: results.length, farthest: states[states.length - 1].key };
}

/** What comes out of every tree over `states`: of each way to split them in two, the first
 *  state on the left. */
function outcomes(states) {
  if (states.length === 1) return states;
  const [first, ...rest] = states;
  const ends = [];
  for (let mask = 0; mask < 2 ** rest.length - 1; mask += 1) {
    const left = [first, ...rest.filter((_, i) => (mask >> i) & 1)];
    const right = rest.filter((_, i) => !((mask >> i) & 1));
    const others = outcomes(right);
    for (const a of outcomes(left)) for (const b of others) ends.push(merge(a, b));
  }
  return ends;
}

// ---- the picture -------------------------------------------------------------------

const WIDE = { width: 720, stack: 46, inset: 9, is: " = ", digits: 3 };
const NARROW = { width: 320, stack: 30, inset: 6, is: " ", digits: 2 };
// Heights, the same for both: brackets, panels, weight 1, weight 0, values, sums, tree, floor.
const Y = {
  tags: 44,
  band: 56,
  one: 82,
  zero: 172,
  values: 190,
  sums: 222,
  tree: 242,
  low: 440,
};
const [LEVEL, ROOM, HEIGHT] = [18, 66, 498];

// A group slides beside the other, then the side with the lower maximum shrinks.
const [SLIDE, SHRINK] = [
  [0, 0.5],
  [0.5, 1],
];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const order = numbers.roots.flatMap(({ members }) => members);
  const pitch = page.width / order.length;
  const { words, was, title } = view;
  const scene = {
    page,
    words,
    pitch,
    at: (k) => order.indexOf(k) * pitch,
    forward: was && was.merges.length < state.merges.length,
  };
  const size = { width: page.width, height: HEIGHT };
  return picture({ ...size, title, glide: scene.forward ? 1200 : 450 }, [
    label(words.weights, 2, 16, { class: "caption", q: "p" }),
    numbers.roots.map((root) => panel(root, numbers, scene)),
    bars(numbers, scene),
    factors(numbers, scene),
    branches(numbers, scene),
    numbers.result ? floats(numbers, scene) : answers(state, numbers, scene),
  ]);
}

/** Where a group begins and ends; its chunks stand side by side. */
function span({ members }, { at, pitch }) {
  const from = at(members[0]);
  return { from: from + 3, to: from + members.length * pitch - 3 };
}

/** A quiet panel, the maximum its weights are measured from, and their sum. */
function panel(root, { last }, scene) {
  const { from, to } = span(root, scene);
  const { inset, is, digits } = scene.page;
  const own = { "data-pick": root.key, at: SLIDE };
  const part = (name, rest) => ({ key: name + root.key, ...own, ...rest });
  const lit = root === last ? " lit" : "";
  const m = part("m", { class: "max", q: "m" });
  const l = part("l", { class: "middle", q: "l" });
  return [
    rect(
      part("band", {
        class: `band${lit}`,
        rx: 6,
        x: from,
        width: to - from,
        y: Y.band,
        height: Y.values + 9 - Y.band,
      }),
    ),
    root.m > -Infinity
      ? level(Y.one, from, to, part("max", { class: "max", q: "m" }))
      : "",
    label(`m${is}${num(root.m, 1)}`, from + inset - 2, Y.one - 8, m),
    label(`ℓ${is}${num(root.l, digits)}`, (from + to) / 2, Y.sums, l),
  ];
}

/** Every weight from its state's maximum. */
function bars(numbers, scene) {
  const { last, roots } = numbers;
  const shrunk = (k) =>
    last &&
    [last.a, last.b].find(
      (side) => side.members.includes(k) && -Infinity < side.m && side.m < last.m,
    );
  return roots.map((root) =>
    root.members.map((k) =>
      numbers.chunks[k].scores.map((s, i) =>
        bar(root, k, i, shrunk(k), numbers, scene),
      ),
    ),
  );
}

/** One weight, pale if it has been rescaled; its ghost before that; its value. */
function bar(root, k, i, before, { chunks, leaves }, { at, pitch, page: { inset } }) {
  const [s, v, id] = [chunks[k].scores[i], chunks[k].values[i], `${k}${i}`];
  const each = (pitch - 2 * inset) / SIZE;
  const [x, width] = [at(k) + inset + i * each, each - 3];
  const part = (rest) => ({ "data-pick": root.key, at: SLIDE, ...rest });
  const tall = (m) => Math.max(0.5, Math.exp(s - m) * (Y.zero - Y.one));
  const standing = (m, rest) =>
    rect({ x, width, y: Y.zero - tall(m), height: tall(m), ...rest });
  const middle = x + width / 2;
  const text = (key) => part({ class: "small middle", key });
  if (s === -Infinity) {
    return i === 1 ? label("−∞", middle, Y.zero - 5, text(`w${id}`)) : "";
  }
  return [
    standing(
      root.m,
      part({
        key: `w${id}`,
        q: "p",
        at: before ? SHRINK : SLIDE,
        class: `weight ${leaves[k].m < root.m ? "old" : "new"}`,
      }),
    ),
    before ? standing(before.m, { key: `g${id}`, class: "ghost", at: SLIDE }) : "",
    label(num(v, 0), middle, Y.values, text(`v${id}`)),
  ];
}

/** Over the two sides of the last merge: what each was multiplied by. */
function factors({ last, nodes }, scene) {
  if (!last) return "";
  const { forward } = scene;
  return [
    [last.a, last.alphaA],
    [last.b, last.alphaB],
  ].map(([side, alpha], i) => {
    const { from, to } = span(side, scene);
    return group(
      {
        key: `x${nodes.length}${i}`,
        class: `tag ${alpha < 1 ? "on" : "quiet"}`,
        q: "alpha",
        ...fading(SHRINK, forward),
      },
      tag("path", { d: `M${from + 4} ${Y.tags + 6}v-5H${to - 4}v5` }),
      label(`× ${times(alpha)}`, Math.max(28, (from + to) / 2), Y.tags - 6, "middle"),
    );
  });
}

/** 1 and 0 need no digits. */
const times = (alpha) => num(alpha, Number.isInteger(alpha) ? 0 : 3);

/** The tree so far: who was merged with whom, from the top down. */
function branches({ leaves, nodes, last }, { at, pitch }) {
  const middles = new Map(
    leaves.map((node) => [node, at(node.members[0]) + pitch / 2]),
  );
  const down = ({ height }) => Y.tree + 8 + height * LEVEL;
  const joined = nodes.map((node) => {
    const [from, to, y] = [middles.get(node.a), middles.get(node.b), down(node)];
    middles.set(node, (from + to) / 2);
    const branch = (key) => ({
      key: node.name + key,
      class: `branch${node === last ? " lit" : ""}`,
    });
    const factor = (alpha, x, side) =>
      alpha < 1 && pitch > 60
        ? label(`× ${times(alpha)}`, x, y - 6, {
            key: node.name + side,
            q: "alpha",
            class: `small ${side}`,
          })
        : "";
    return [
      upright(from, down(node.a), y, branch("a")),
      upright(to, down(node.b), y, branch("b")),
      level(y, from, to, branch("")),
      factor(node.alphaA, from + 5, "start"),
      factor(node.alphaB, to - 5, "end"),
    ];
  });
  const names = leaves.map((node) =>
    label(node.name, middles.get(node), Y.tree + 6, {
      key: `n${node.key}`,
      class: "strong middle",
    }),
  );
  return [joined, names];
}

/** The floats around the exact answer; a dot for every tree, stacked where it ends. */
function floats({ ends, trees, result, truth }, { page, words }) {
  const offs = ends.map(([off]) => off);
  const [least, most] = [Math.min(-2, ...offs), Math.max(2, ...offs)];
  const gap = page.width / (most - least + 1);
  const x = (off) => (off - least + 0.5) * gap;
  const mine = (off) => (off === result.off ? " mine" : "");
  const highest = Math.max(...ends.map(([, count]) => count));
  const size = Math.min(7, 0.88 * Math.sqrt((page.stack * ROOM) / highest));
  const tick = (off) =>
    label(
      `${off > 0 ? "+" : ""}${num(off, 0)}`,
      x(off),
      Y.low + 17,
      `small middle${mine(off)}`,
    );
  return group(
    { key: "floats" },
    floor(fill(words.every, { trees }), page),
    upright(x(truth.part), Y.low - 7, Y.low + 7, "truth"),
    label(words.exact, x(truth.part), Y.low + 34, "truth middle"),
    ...ends.map(([off, count]) =>
      tag("path", {
        class: `trees${mine(off)}`,
        "stroke-width": 0.8 * size,
        d: stack(count, x(off), Y.low - 5, size, page.stack),
      }),
    ),
    ...Array.from({ length: most - least + 1 }, (_, i) => tick(least + i)),
    label(
      `o/ℓ = ${show(result.y, 8)}`,
      Math.min(page.width - 70, Math.max(70, x(result.off))),
      Y.low + 54,
      { class: "strong middle", q: "o" },
    ),
  );
}

/** Dots in rows from the axis upwards, as one path. */
function stack(count, x, y, size, width) {
  const across = Math.max(1, Math.floor(width / size));
  const dot = (_, i) => {
    const [row, column] = [Math.floor(i / across), i % across];
    const here = Math.min(across, count - row * across);
    return `M${(x + (column - (here - 1) / 2) * size).toFixed(1)} ${(y - row * size).toFixed(1)}h0`;
  };
  return Array.from({ length: count }, dot).join("");
}

/** The axis at the bottom, and what stands on it. */
const floor = (text, { width }) =>
  label(text, 2, Y.low - ROOM - 16, "caption") + level(Y.low, 0, width, "axis");

/** While states are left to merge: what each would answer by itself. */
function answers({ values }, { roots }, { page, words }) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const x = (y) => 20 + ((y - least) / (most - least || 1)) * (page.width - 40);
  const seen = roots.filter(({ l }) => l > 0).sort((a, b) => a.o / a.l - b.o / b.l);
  const end = (y) => label(num(y, 0), x(y), Y.low + 20, "small middle");
  // A name that would run into the one before it goes up.
  let last = { end: -Infinity, up: 0 };
  const up = (name, y) => {
    const half = 4 + 5 * name.length;
    last = { up: x(y) - half < last.end ? 1 - last.up : 0, end: x(y) + half };
    return 17 * last.up;
  };
  return group(
    { q: "o" },
    floor(words.answers, page),
    end(least),
    end(most),
    ...seen.flatMap(({ key, name, o, l }) => [
      circle(x(o / l), Y.low, 6, { key: `c${key}`, class: "answer" }),
      label(name, x(o / l), Y.low - 14 - up(name, o / l), {
        key: `y${key}`,
        class: "strong middle",
      }),
    ]),
  );
}

// ---- the words ---------------------------------------------------------------------

export function say(_, { last, roots, result, truth, ends, trees, farthest }, words) {
  if (!last) return words.sayStart;
  const { a, b, alphaA, alphaB } = last;
  const blank = [a, b].find(({ m }) => m === -Infinity);
  const change = blank ? words.sayBlank : a.m === b.m ? words.sayTie : words.sayShrunk;
  const end = !result ? words.sayLeft : result.off ? words.sayOff : words.sayNearest;
  const here = result && ends.find(([off]) => off === result.off)[1];
  const count = !result ? "" : here === 1 ? words.sayOne : words.sayMany;
  const values = {
    a: a.name,
    b: b.name,
    m: num(last.m, 1),
    n: roots.length,
    trees,
    farthest,
    shrunk: (blank ?? (alphaA < alphaB ? a : b)).name,
    alpha: times(Math.min(alphaA, alphaB)),
    truth: show(truth.y, 10),
    ...(result && { y: show(result.y, 8), off: Math.abs(result.off), here }),
  };
  return sentences([words.sayMerged, change, end, count], values);
}

export function table(_, { leaves, nodes }, words) {
  const row = ({ name, a, b, m, l, o }) => [
    a ? `${a.name} + ${b.name}` : name,
    num(m, 1),
    num(l, 5),
    num(o, 5),
    l > 0 ? show(f32(o / l), 8) : "–",
  ];
  const rows = [...leaves, ...nodes].map(row);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
