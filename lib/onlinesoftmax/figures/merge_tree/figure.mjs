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
  const truth = exactly(scores, values);
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
