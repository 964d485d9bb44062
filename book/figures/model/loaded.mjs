// The model itself, and all that it has written for the states the reader came through.
// It is loaded when the figure is first used; `speaker.py` has the same in NumPy.

import { held, losses, sizes, vocabulary, weights } from "livepage/data";
import { ALIKE, BASE, DRAWS, EPSILON } from "livepage/constants";

const { width, heads, layers: depth, hidden, context } = sizes;
const d = width / heads;
const half = d / 2;
const REMEMBERED = 8; // texts; with its KV cache, each takes a megabyte

// ---- the stored numbers ------------------------------------------------------------

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** What base64 stands for; `atob` is not there where the book is built. */
function decoded(text) {
  const values = new Uint8Array(128);
  for (let i = 0; i < 64; i++) values[ALPHABET.charCodeAt(i)] = i;
  const bytes = new Uint8Array((text.replace(/=+$/, "").length * 3) >> 2);
  for (let i = 0, held = 0, at = 0; at < bytes.length; i++) {
    held = ((held << 6) | values[text.charCodeAt(i)]) & 0xffffff;
    if (i % 4) bytes[at++] = held >> (6 - 2 * (i % 4));
  }
  return bytes;
}

/** A number of two bytes, low one first, as fp16. */
function fp16(low, high) {
  const [power, rest] = [(high >> 2) & 31, ((high & 3) << 8) | low];
  const size = power ? (1 + rest / 1024) * 2 ** (power - 15) : rest * 2 ** -24;
  return high & 128 ? -size : size;
}

/** Every matrix: half a byte for a number, times the factor of its row. */
function unpacked(bytes) {
  const layer = [
    [3 * width, width],
    [width, width],
    [hidden, width],
    [width, hidden],
  ];
  const shapes = [[vocabulary.length, width], ...Array(depth).fill(layer).flat()];
  let at = 2 * 2 * shapes.reduce((sum, [rows]) => sum + rows, 0); // in half-bytes
  let row = 0;
  const next = () => ((bytes[at >> 1] >> (4 * (at++ & 1))) & 15) - 8;
  return shapes.map(([rows, columns]) => {
    const numbers = new Float64Array(rows * columns);
    for (let i = 0; i < rows; i++, row++) {
      const factor = fp16(bytes[2 * row], bytes[2 * row + 1]);
      for (let j = 0; j < columns; j++) numbers[i * columns + j] = next() * factor;
    }
    return { rows, columns, numbers };
  });
}

const [embedding, ...matrices] = unpacked(decoded(weights));
const LAYERS = Array.from({ length: depth }, (_, i) =>
  matrices.slice(4 * i, 4 * i + 4),
);

// ---- the model ---------------------------------------------------------------------

/** A matrix times a list; four sums at once, so that none waits for the one before. */
function times({ rows, columns, numbers }, x) {
  const out = new Float64Array(rows);
  for (let i = 0, at = 0; i < rows; i++) {
    let a = 0;
    let b = 0;
    let c = 0;
    let e = 0;
    for (let j = 0; j < columns; j += 4, at += 4) {
      a += numbers[at] * x[j];
      b += numbers[at + 1] * x[j + 1];
      c += numbers[at + 2] * x[j + 2];
      e += numbers[at + 3] * x[j + 3];
    }
    out[i] = a + b + (c + e);
  }
  return out;
}

/** A list of numbers; a typed array's own `map` takes several times as long. */
function listed(size, number) {
  const out = new Float64Array(size);
  for (let i = 0; i < size; i++) out[i] = number(i);
  return out;
}

/** RMSNorm. */
function rmsNorm(x) {
  let squares = 0;
  for (const each of x) squares += each * each;
  const size = Math.sqrt(squares / x.length + EPSILON);
  return listed(x.length, (i) => x[i] / size);
}

const plus = (x, y) => listed(x.length, (i) => x[i] + y[i]);

/** RoPE: rotates pairs of a head's numbers, by an angle that grows with the position. */
function rotate(x, position) {
  const out = new Float64Array(width);
  for (let i = 0; i < half; i++) {
    const angle = position * BASE ** (-i / half);
    const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
    for (let at = i; at < width; at += d) {
      out[at] = x[at] * cos - x[at + half] * sin;
      out[at + half] = x[at] * sin + x[at + half] * cos;
    }
  }
  return out;
}

const embedded = (token) =>
  listed(width, (i) => embedding.numbers[token * width + i] * Math.sqrt(width));

/** Query, key and value of a token in a layer, each for all heads. */
function asked([qkv], x, position) {
  const all = times(qkv, rmsNorm(x));
  const part = (i) => all.slice(i * width, (i + 1) * width);
  return { q: rotate(part(0), position), k: rotate(part(1), position), v: part(2) };
}

/** What a layer makes of x, once its heads have found `seen`. */
function fed([, out, up, down], x, seen) {
  const y = plus(x, times(out, seen));
  const middle = times(up, rmsNorm(y));
  return plus(
    y,
    times(
      down,
      listed(hidden, (i) => Math.max(middle[i], 0)),
    ),
  );
}

const logitsOf = (x) => times(embedding, rmsNorm(x));

// ---- attention, tile by tile, perhaps with a mistake --------------------------------

/** The output of one head from the keys `start` to `stop`; `watch` hears of each tile. */
function folded(q, rows, { at, start, stop, block, mistake }, watch) {
  const scores = scoresOf(q, rows, at, start, stop, mistake);
  const [terms, values] = [new Float64Array(block), rows.slice(start, stop)];
  const state = { m: mistake === "zero-first" ? 0 : -Infinity, l: 0, o: zeros() };
  const mean = { sum: zeros(), tiles: 0 };
  for (let from = 0; from < values.length; from += block) {
    const to = Math.min(values.length, from + block);
    if (mistake === "no-tail" && from > 0 && from + block > values.length) break;
    const tile = taken(state.m, scores, from, to, terms);
    const moment = weighed(terms, values, at, from, to);
    join(state, tile, moment, mistake);
    mean.tiles += 1;
    for (let i = 0; i < d; i++) mean.sum[i] += moment[i] / tile.added;
    if (watch)
      watch({
        ...state,
        ...tile,
        start: start + from,
        stop: start + to,
        terms: [...terms.slice(0, to - from)],
      });
  }
  if (mistake === "each-divides") return listed(d, (i) => mean.sum[i] / mean.tiles);
  return listed(d, (i) => state.o[i] / state.l);
}

const zeros = () => new Float64Array(d);

function scoresOf(q, rows, at, start, stop, mistake) {
  const scores = new Float64Array(stop - start);
  const root = mistake === "no-root" ? 1 : Math.sqrt(d);
  for (let j = start; j < stop; j++) {
    const { k } = rows[j];
    let sum = 0;
    for (let i = at; i < at + d; i++) sum += q[i] * k[i];
    scores[j - start] = sum / root;
  }
  return scores;
}

/** The maximum with a tile's scores, what the old is worth under it, and its own terms. */
function taken(before, scores, from, to, terms) {
  let m = before;
  for (let j = from; j < to; j++) m = Math.max(m, scores[j]);
  let added = 0;
  for (let j = from; j < to; j++) added += terms[j - from] = Math.exp(scores[j] - m);
  return { m, alpha: Math.exp(before - m), added };
}

/** A tile's values, each times its term. */
function weighed(terms, values, at, from, to) {
  const out = zeros();
  for (let j = from; j < to; j++) {
    const { v } = values[j];
    const term = terms[j - from];
    for (let i = 0; i < d; i++) out[i] += term * v[at + i];
  }
  return out;
}

/** Take a tile into the state. */
function join(state, { m, alpha, added }, moment, mistake) {
  const ofSum = mistake === "no-rescale" || mistake === "only-output" ? 1 : alpha;
  const ofOutput = mistake === "no-rescale" || mistake === "only-sum" ? 1 : alpha;
  const short = mistake === "half-sums";
  Object.assign(state, { m, l: ofSum * state.l + added, ofOutput });
  if (short) state.l = halved(state.l);
  for (let i = 0; i < d; i++) {
    const sum = ofOutput * state.o[i] + moment[i];
    state.o[i] = short ? halved(sum) : sum;
  }
}

/** The number of fp16 that is nearest; of two, the even one. */
function halved(x) {
  const unit = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(x)))) - 10);
  const [count, below] = [x / unit, Math.floor(x / unit)];
  const up = count - below > 0.5 || (count - below === 0.5 && below % 2 !== 0);
  const near = (below + (up ? 1 : 0)) * unit;
  return Math.abs(near) > 65504 ? Math.sign(x) * Infinity : near;
}

/** The outputs of all heads for one query. */
function found(q, rows, where) {
  const seen = new Float64Array(width);
  for (let at = 0; at < width; at += d) seen.set(folded(q, rows, { ...where, at }), at);
  return seen;
}

// ---- what it writes ----------------------------------------------------------------

/** The tokens of a text, each the longest that fits where the one before it ends. */
function tokenize(text) {
  const tokens = [];
  for (let at = 0; at < text.length; at += vocabulary[tokens.at(-1)].length) {
    const fits = (best, token, i) =>
      text.startsWith(token, at) && token.length > (vocabulary[best]?.length ?? 0)
        ? i
        : best;
    tokens.push(vocabulary.reduce(fits, -1));
  }
  return tokens;
}

/** Numbers between 0 and 1: the draws of a seed. */
function* uniform(seed) {
  for (let turn = 0, state = seed; ; turn++) {
    state = (state * DRAWS.multiplier + DRAWS.addend) % DRAWS.modulus;
    if (turn >= ALIKE) yield (state + 0.5) / DRAWS.modulus;
  }
}

/** The token that a draw falls on; the likeliest at temperature 0. */
function sample(logits, temperature, draw) {
  const most = Math.max(...logits);
  if (temperature === 0) return logits.indexOf(most);
  const terms = logits.map((each) => Math.exp((each - most) / temperature));
  const total = terms.reduce((sum, each) => sum + each, 0);
  let end = 0;
  const ends = terms.map((each) => (end += each / total));
  const at = ends.findIndex((each) => each > draw * end);
  return at < 0 ? logits.length - 1 : at;
}

/** The model itself, for another attention: `definition` computes one query. */
export const model = {
  sizes,
  vocabulary,
  layers: LAYERS,
  tokenize,
  uniform,
  sample,
  embedded,
  asked,
  fed,
  logitsOf,
  definition: (q, rows) => found(q, rows, { start: 0, stop: rows.length, ...RIGHT }),
};

/** A text on its way: its tokens so far, and its KV cache. */
function begun({ prompt, temperature, seed, block, mistake }) {
  const given = tokenize(prompt);
  const text = { temperature, block, mistake, given: given.length, tokens: [] };
  const kvCache = LAYERS.map(() => []);
  Object.assign(text, { kvCache, logits: [], draws: uniform(seed) });
  for (const token of given) read(text, token);
  return text;
}

function read(text, token) {
  const { kvCache, block, mistake } = text;
  const position = text.tokens.push(token) - 1;
  const where = { start: Math.max(0, position + 1 - context), stop: position + 1 };
  let x = embedded(token);
  LAYERS.forEach((layer, i) => {
    kvCache[i].push(asked(layer, x, position));
    const { q } = kvCache[i][position];
    x = fed(layer, x, found(q, kvCache[i], { ...where, block, mistake }));
  });
  text.logits.push(logitsOf(x));
}

const texts = new Map();

/** The text of a state, as far as it is asked for: what is there is not written again. */
function textOf(state) {
  const { prompt, temperature, seed, block, mistake } = state;
  const key = JSON.stringify([prompt, temperature, seed, block, mistake]);
  const text = texts.get(key) ?? begun(state);
  texts.delete(key); // the one asked for last stands last
  texts.set(key, text);
  if (texts.size > REMEMBERED) texts.delete(texts.keys().next().value);
  while (text.tokens.length < text.given + state.step)
    read(text, sample(text.logits.at(-1), text.temperature, text.draws.next().value));
  return text;
}

/** How many tokens have to be read before a text is there as far as a state asks. */
export function missing(state) {
  const { prompt, temperature, seed, block, mistake, step } = state;
  const text = texts.get(JSON.stringify([prompt, temperature, seed, block, mistake]));
  return text ? text.given + step - text.tokens.length : prompt.length + step;
}

/** What stands there after `step` tokens, and what one head made of the last of them. */
export function written(state) {
  const { block, mistake } = state;
  const text = textOf(state);
  const last = text.given + state.step - 1;
  const rows = text.kvCache[Math.floor(state.head / heads)];
  const [at, start] = [d * (state.head % heads), Math.max(0, last + 1 - context)];
  const where = { at, start, stop: last + 1, block, mistake };
  const { q } = rows[last];
  const tiles = [];
  const out = folded(q, rows, where, (tile) => tiles.push(tile));
  const due = {};
  due.out = folded(q, rows, { ...where, ...RIGHT }, (all) => Object.assign(due, all));
  return {
    tokens: text.tokens.slice(0, last + 1).map((token) => vocabulary[token]),
    logits: [...text.logits[last]],
    scores: [...scoresOf(q, rows, at, start, last + 1, mistake)],
    weights: shares(tiles, mistake),
    tiles,
    out: [...out],
    due: { m: due.m, l: due.l, out: [...due.out], weights: shares([due], "none") },
  };
}

const RIGHT = { block: context, mistake: "none" };

/** The same without a mistake, and with one tile of all keys. */
export const rightly = (state) => written({ ...state, ...RIGHT });
export const missingRight = (state) => missing({ ...state, ...RIGHT });

/** What each key counts for in the output. */
function shares(tiles, mistake) {
  if (mistake === "each-divides")
    return tiles.flatMap(({ terms, added }) =>
      terms.map((each) => each / added / tiles.length),
    );
  const rounded = mistake === "half-sums" ? halved : (x) => x;
  const add = (sums, { terms, ofOutput }) =>
    [...sums.map((each) => each * ofOutput), ...terms].map(rounded);
  return tiles.reduce(add, []).map((each) => each / tiles.at(-1).l);
}

// ---- a page that it has never seen --------------------------------------------------

const known = new Map(Object.entries(losses));

/** The cross-entropy of that page: nats a letter, after the first token. */
export function loss({ block, mistake }) {
  const key = `${block} ${mistake}`;
  if (!known.has(key)) known.set(key, measured(tokenize(held), block, mistake));
  return known.get(key);
}

export const isMeasured = ({ block, mistake }) => known.has(`${block} ${mistake}`);
export const rightLoss = loss(RIGHT);

function measured(tokens, block, mistake) {
  const logits = forward(tokens.slice(0, -1), block, mistake);
  const nats = logits.map((row, i) => {
    const most = Math.max(...row);
    const sum = row.reduce((total, each) => total + Math.exp(each - most), 0);
    return most + Math.log(sum) - row[tokens[i + 1]];
  });
  const letters = held.length - vocabulary[tokens[0]].length;
  return nats.reduce((sum, each) => sum + each, 0) / letters;
}

/** The logits after each token of a text, all at once. */
function forward(tokens, block, mistake) {
  let xs = tokens.map(embedded);
  for (const layer of LAYERS) {
    const rows = xs.map((x, position) => asked(layer, x, position));
    xs = xs.map((x, i) => {
      const stop = mistake === "no-mask" ? xs.length : i + 1;
      const where = { start: Math.max(0, i + 1 - context), stop, block, mistake };
      return fed(layer, x, found(rows[i].q, rows, where));
    });
  }
  return xs.map(logitsOf);
}
