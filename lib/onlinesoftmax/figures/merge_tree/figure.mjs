// The merge tree: any two pockets may merge next; the answer never changes, its last bit
// sometimes does.

import { fill, group, label, line, num, picture, rect, tag } from "../host/kit.mjs";

const SIZE = 3; // scores in a chunk

// ---- the numbers: single precision, each operation rounded ---------------------------

const f32 = Math.fround;
const exp32 = (x) => f32(Math.exp(x));
const shift = (m) => (m === -Infinity ? 0 : m);

export function compute({ scores, values, masked, merges }) {
  const chunks = chunked(scores, values);
  if (masked) chunks.push({ scores: Array(SIZE).fill(-Infinity), values: Array(SIZE).fill(0) });
  const leaves = chunks.map(leaf);
  const { roots, nodes } = grown(leaves, merges);
  const truth = located(exactly(scores, values));
  const result = roots.length === 1 ? ending(roots[0], truth) : null;
  return {
    chunks, leaves, roots, nodes, truth, result,
    last: nodes[nodes.length - 1] ?? null,
    items: roots.map(({ key, name }) => ({ key, text: name })),
    ways: everyWay(scores, values, truth.y),
  };
}

function chunked(scores, values) {
  const count = Math.ceil(scores.length / SIZE);
  const part = (list, k) => list.slice(k * SIZE, (k + 1) * SIZE);
  return Array.from({ length: count }, (_, k) =>
    ({ scores: part(scores, k), values: part(values, k) }));
}

/** The state of one chunk, added up from left to right. */
function leaf({ scores, values }, k) {
  const m = Math.max(...scores.map(f32));
  let [l, o] = [0, 0];
  scores.forEach((s, i) => {
    const w = exp32(f32(f32(s) - shift(m)));
    l = f32(l + w);
    if (w > 0) o = f32(o + f32(w * f32(values[i])));
  });
  const key = String.fromCharCode(65 + k);
  return { key, name: key, members: [k], height: 0, m, l, o };
}

function merge(a, b) {
  const m = Math.max(a.m, b.m);
  const [alphaA, alphaB] = [a, b].map((side) => exp32(f32(side.m - shift(m))));
  const both = (x, y) => f32(f32(alphaA * x) + f32(alphaB * y));
  return { m, l: both(a.l, b.l), o: both(a.o, b.o), alphaA, alphaB };
}

/** Merge as told, "AC" meaning: the group of A with the group of C. */
function grown(leaves, merges) {
  const [roots, nodes] = [[...leaves], []];
  for (const pair of merges.split(".").filter(Boolean)) {
    const [i, j] = [...pair].map((letter) => roots.findIndex(({ name }) => name.includes(letter)))
      .sort((a, b) => a - b);
    if (i < 0 || i === j) continue;
    const [a, b] = [roots[i], roots[j]];
    const node = {
      ...merge(a, b), a, b, key: a.key, name: a.name + b.name,
      members: [...a.members, ...b.members], height: 1 + Math.max(a.height, b.height),
    };
    roots.splice(j, 1);
    roots[i] = node;
    nodes.push(node);
  }
  return { roots, nodes };
}

/** The answer with many more digits than the merges have. */
function exactly(scores, values) {
  const [s, v] = [scores.map(f32), values.map(f32)];
  const m = Math.max(...s);
  const terms = s.map((x) => Math.exp(x - shift(m)));
  const l = terms.reduce((sum, w) => sum + w, 0);
  return { m, l, y: terms.reduce((sum, w, i) => sum + (w > 0 ? w * v[i] : 0), 0) / (l || 1) };
}

/** Between which floats the exact answer lies: its part of the way to the next. */
function located(truth) {
  const near = f32(truth.y);
  const next = new Float32Array(new Int32Array([place(Math.abs(near)) + 1]).buffer)[0];
  return { ...truth, near, part: (truth.y - near) / (next - Math.abs(near)) };
}

/** Where a tree ends: the answer, its bits, and how many floats it lies from the truth's. */
function ending({ l, o }, truth) {
  const y = l > 0 ? f32(o / l) : 0;
  return { y, off: place(y) - place(f32(truth.y)), bits: bits(y) };
}

/** Which float it is, counted from 0. */
function place(y) {
  const raw = new Int32Array(new Float32Array([y + 0]).buffer)[0];
  return raw < 0 ? -2147483648 - raw : raw;
}

const bits = (y) =>
  new Uint32Array(new Float32Array([y]).buffer)[0].toString(16).toUpperCase().padStart(8, "0");

/** How many of all trees end at each float: [[off, count], …]. */
function everyWay(scores, values, y) {
  const counts = new Map();
  for (const end of trees(chunked(scores, values).map(leaf))) {
    const off = place(end.l > 0 ? f32(end.o / end.l) : 0) - place(f32(y));
    counts.set(off, (counts.get(off) ?? 0) + 1);
  }
  return [...counts].sort((a, b) => a[0] - b[0]);
}

/** What comes out of every tree over `states`: the first one's side, then the rest. */
function trees(states) {
  if (states.length === 1) return states;
  const [first, ...rest] = states;
  const ends = [];
  for (let mask = 0; mask < 2 ** rest.length - 1; mask += 1) {
    const left = [first, ...rest.filter((_, i) => (mask >> i) & 1)];
    const right = rest.filter((_, i) => !((mask >> i) & 1));
    const others = trees(right);
    for (const a of trees(left)) for (const b of others) ends.push(merge(a, b));
  }
  return ends;
}

/** Another way to merge everything: pairs drawn from a small generator. */
export function again(count, { scores, masked }) {
  const left = Array.from({ length: Math.ceil(scores.length / SIZE) + Number(masked) },
    (_, k) => String.fromCharCode(65 + k));
  const made = [];
  let seed = (count * 2654435761 + 1) % 4294967296;
  const draw = (n) => {
    seed = (seed * 1664525 + 1013904223) % 4294967296;
    return Math.floor((seed / 4294967296) * n);
  };
  while (left.length > 1) {
    const [one] = left.splice(draw(left.length), 1);
    made.push(left[draw(left.length)] + one);
  }
  return { merges: made.join(".") };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720, height: 486, tags: 44, band: 56, one: 82, zero: 172, digits: 190, sums: 222,
  tree: 238, level: 22, floats: 436, stack: 46, text: 8,
};
const NARROW = {
  width: 320, height: 486, tags: 44, band: 56, one: 82, zero: 172, digits: 190, sums: 222,
  tree: 238, level: 22, floats: 436, stack: 34, text: 7,
};

// A group slides beside the other, then the side with the lower maximum shrinks.
const [SLIDE, SHRINK] = [[0, 0.5], [0.45, 1]];

export function draw(state, numbers, view) {
  const page = view.wide ? WIDE : NARROW;
  const order = numbers.roots.flatMap(({ members }) => members);
  const pitch = page.width / order.length;
  const scene = {
    page, words: view.words, pitch, digit: (pitch - 18) / SIZE,
    at: (k) => order.indexOf(k) * pitch,
    forward: view.was && view.was.merges.length < state.merges.length,
  };
  return picture({ ...page, title: view.title, glide: scene.forward ? 1200 : 450 }, [
    label(scene.words.weights, { class: "caption", q: "p", x: 2, y: 16 }),
    numbers.roots.map((root) => pocket(root, numbers, scene)),
    bars(numbers, scene), factors(numbers, scene), branches(numbers, scene),
    numbers.result ? floats(numbers, scene) : waiting(numbers, scene),
  ]);
}

/** Where a group begins and ends; its chunks stand side by side. */
function span({ members }, { at, pitch }) {
  const from = at(members[0]);
  return { from: from + 3, to: from + members.length * pitch - 3 };
}

/** A quiet panel, the maximum its weights are measured from, and their sum. */
function pocket(root, { last }, scene) {
  const { page } = scene;
  const { from, to } = span(root, scene);
  const [key, pick] = [root.key, { "data-pick": root.key, at: SLIDE }];
  const line1 = { x1: from, x2: to, y1: page.one, y2: page.one };
  return [
    rect({ key: `band${key}`, class: `band${root === last ? " lit" : ""}`, rx: 6, x: from,
      width: to - from, y: page.band, height: page.digits + 9 - page.band, ...pick }),
    root.m > -Infinity
      ? line({ key: `max${key}`, class: "max", q: "m", ...line1, ...pick }) : "",
    label(`m = ${num(root.m, 1)}`, { key: `m${key}`, class: "max", q: "m", x: from + 7,
      y: page.one - 8, ...pick }),
    label(`ℓ = ${num(root.l)}`, { key: `l${key}`, class: "middle", q: "l",
      x: (from + to) / 2, y: page.sums, ...pick }),
  ];
}

/** Every weight from its pocket's maximum; pale if it has been rescaled on the way. */
function bars({ chunks, leaves, roots, last }, scene) {
  const { page: { one, zero, digits }, at, digit } = scene;
  const tall = (w) => w * (zero - one);
  const shrunk = new Set(last && [last.a, last.b].flatMap((side) =>
    (side.m < last.m ? side.members : [])));
  return roots.flatMap((root) => root.members.flatMap((k) => chunks[k].scores.map((s, i) => {
    const place = { x: at(k) + 9 + i * digit, width: digit - 3 };
    const bar = (m, rest) => {
      const w = Math.exp(s - shift(m));
      return rect({ ...place, y: zero - tall(w), height: Math.max(0.5, tall(w)), ...rest });
    };
    const pick = { "data-pick": root.key };
    const text = { x: place.x + place.width / 2, y: digits, at: SLIDE, ...pick };
    const own = leaves[k].m;
    const was = shrunk.has(k) && [last.a, last.b].find(({ members }) => members.includes(k)).m;
    return [
      s === -Infinity ? label("−∞", { key: `w${k}${i}`, class: "small middle", ...text, y: zero - 5 })
        : bar(root.m, { key: `w${k}${i}`, class: `weight ${own < root.m ? "old" : "new"}`, q: "p",
          at: shrunk.has(k) ? SHRINK : SLIDE, ...pick }),
      shrunk.has(k) && was > -Infinity ? bar(was, { key: `g${k}${i}`, class: "ghost", at: SLIDE }) : "",
      s === -Infinity ? "" : label(num(chunks[k].values[i], 0),
        { key: `v${k}${i}`, class: "small middle", ...text }),
    ];
  })));
}

/** Over the two sides of the last merge: what each was multiplied by. */
function factors({ last, nodes }, scene) {
  if (!last) return "";
  const { page, forward } = scene;
  return [[last.a, last.alphaA], [last.b, last.alphaB]].map(([side, alpha], i) => {
    const { from, to } = span(side, scene);
    return group({ key: `x${nodes.length}${i}`, class: `tag ${alpha < 1 ? "on" : "quiet"}`,
      q: "alpha", opacity: 1, at: SHRINK, from: forward && { opacity: 0 } },
      tag("path", { d: `M${from + 4} ${page.tags + 6}v-5H${to - 4}v5` }),
      label(`× ${times(alpha)}`, { class: "middle", x: (from + to) / 2, y: page.tags - 6 }));
  });
}

/** 1 and 0 need no digits; what is nearly 0 says so. */
const times = (alpha) =>
  (alpha === 1 || alpha === 0 ? `${alpha}` : alpha < 0.0005 ? "0.000…" : num(alpha));

/** The tree so far: who was merged with whom, from the top down. */
function branches({ leaves, nodes, last }, scene) {
  const { page: { tree, level }, at, pitch } = scene;
  const middles = new Map(leaves.map((node) => [node, at(node.members[0]) + pitch / 2]));
  const down = ({ height }) => tree + 8 + height * level;
  const stem = (node, side, alpha) => {
    const [x, y] = [middles.get(side), down(node)];
    const lit = node === last ? " lit" : "";
    const key = `${node.name}/${side.name}`;
    return [
      line({ key, class: `branch${lit}`, x1: x, x2: x, y1: down(side), y2: y }),
      alpha < 1 && pitch > 60 ? label(`× ${times(alpha)}`, { key: `t${key}`, class: "small",
        q: "alpha", x: x + 5, y: y - 6 }) : "",
    ];
  };
  const joined = nodes.flatMap((node) => {
    const [from, to] = [middles.get(node.a), middles.get(node.b)];
    middles.set(node, (from + to) / 2);
    return [
      ...stem(node, node.a, node.alphaA), ...stem(node, node.b, node.alphaB),
      line({ key: node.name, class: `branch${node === last ? " lit" : ""}`,
        x1: from, x2: to, y1: down(node), y2: down(node) }),
    ];
  });
  const names = leaves.map((node) => label(node.name, { key: `n${node.key}`,
    class: "strong middle", x: middles.get(node), y: tree + 6 }));
  return [...joined, ...names];
}

/** The floats around the exact answer; a dot for every tree, stacked where it ends. */
function floats({ ways, result, truth }, { page, words }) {
  const offs = [...ways.map(([off]) => off), result.off];
  const [least, most] = [Math.min(-2, ...offs), Math.max(2, ...offs)];
  const gap = page.width / (most - least + 1);
  const x = (off) => (off - least + 0.5) * gap;
  const [low, room] = [page.floats, 66];
  const dot = Math.min(7, Math.sqrt((page.stack * room) / Math.max(...ways.map(([, n]) => n))));
  const green = x(truth.part);
  const mine = Math.min(page.width - 96, Math.max(96, x(result.off)));
  const tick = (off) => label(off > 0 ? `+${off}` : num(off, 0),
    { class: "small middle", x: x(off), y: low + 17 });
  return group({ key: "floats" },
    label(fill(words.every, { trees: ways.reduce((sum, [, n]) => sum + n, 0) }),
      { class: "caption", x: 2, y: low - room - 16 }),
    line({ class: "axis", x1: 0, x2: page.width, y1: low, y2: low }),
    line({ class: "truth", x1: green, x2: green, y1: low - 6, y2: low + 6 }),
    label(words.exact, { class: "truth middle", x: green, y: low + 34 }),
    ...ways.map(([off, count]) => tag("path", { class: "dots", "stroke-width": 0.8 * dot,
      d: stack(count, x(off), low - 5, dot, page.stack) })),
    ...Array.from({ length: most - least + 1 }, (_, i) => tick(least + i)),
    rect({ key: "mine", class: "mine", rx: 6, x: x(result.off) - gap / 2 + 2, width: gap - 4,
      y: low - room - 8, height: room + 29 }),
    label(`o/ℓ = ${result.y.toPrecision(8)}`, { key: "answer", class: "strong middle", q: "o",
      x: mine, y: low + 49 }));
}

/** Dots in rows from the axis upwards, as one path. */
function stack(count, x, y, dot, width) {
  const across = Math.max(1, Math.floor(width / dot));
  const place = (i) => {
    const [row, column] = [Math.floor(i / across), i % across];
    const here = Math.min(across, count - row * across);
    return `M${(x + (column - (here - 1) / 2) * dot).toFixed(1)} ${(y - row * dot).toFixed(1)}h0`;
  };
  return Array.from({ length: count }, (_, i) => place(i)).join("");
}

/** Not done yet: how many are left. */
const waiting = ({ roots }, { page, words }) => label(fill(words.left, { n: roots.length }),
  { key: "floats", class: "caption middle", x: page.width / 2, y: page.floats - 20 });

// ---- the words ---------------------------------------------------------------------

export function say(_, { last, roots, result, truth, ways }, words) {
  if (!last) return words.sayStart;
  const shrunk = last.alphaA < 1 ? last.a : last.b;
  const alpha = Math.min(last.alphaA, last.alphaB);
  const blank = [last.a, last.b].find(({ m }) => m === -Infinity);
  const change = blank ? words.sayBlank : alpha === 1 ? words.sayTie : words.sayShrunk;
  const here = ways.find(([off]) => off === result?.off)?.[1] ?? 0;
  const end = !result ? words.sayLeft : result.off === 0 ? words.sayNearest : words.sayOff;
  const values = {
    a: last.a.name, b: last.b.name, m: num(last.m, 1), shrunk: (blank ?? shrunk).name,
    alpha: times(alpha), n: roots.length, y: result?.y.toPrecision(8), bits: result?.bits,
    off: Math.abs(result?.off ?? 0), here, trees: ways.reduce((sum, [, n]) => sum + n, 0),
    truth: truth.y.toPrecision(12),
  };
  return [words.sayMerged, change, end].map((sentence) => fill(sentence, values)).join(" ");
}

/** The lines of the last merge, with what they say. */
export function code(_, { last }) {
  const row = (q, text, value) => ({ q, text, value: last ? value() : "" });
  const sum = (part) => `${times(last.alphaA)} × ${num(last.a[part])} + `
    + `${times(last.alphaB)} × ${num(last.b[part])} = ${num(last[part])}`;
  const from = (side) => `exp([m: ${num(side.m, 1)}] − [m: ${num(last.m, 1)}])`;
  return [
    row("m", "m = max([m: a.m], [m: b.m])",
      () => `max([m: ${num(last.a.m, 1)}], [m: ${num(last.b.m, 1)}]) = [m: ${num(last.m, 1)}]`),
    row("alpha", "[alpha: alpha_a], [alpha: alpha_b] = exp(a.m - [m: m]), exp(b.m - [m: m])",
      () => `${from(last.a)} = [alpha: ${times(last.alphaA)}], ${from(last.b)} = [alpha: ${times(last.alphaB)}]`),
    row("l", "l = [alpha: alpha_a] * [l: a.l] + [alpha: alpha_b] * [l: b.l]", () => sum("l")),
    row("o", "o = [alpha: alpha_a] * [o: a.o] + [alpha: alpha_b] * [o: b.o]", () => sum("o")),
  ];
}

export function table(_, { leaves, nodes }, words) {
  const row = ({ name, a, b, m, l, o }) => [
    a ? `${a.name} + ${b.name}` : name, num(m, 1), num(l, 5), num(o, 5),
    l > 0 ? (o / l).toPrecision(8) : "–",
  ];
  return { caption: words.tableCaption, head: words.tableHead, rows: [...leaves, ...nodes].map(row) };
}
