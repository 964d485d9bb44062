// Heads: what a token of a short text looks at, in one head of the model.

import { HEADS, PICKED, SCORES, TOKENS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect, round, tag } from "livepage/shapes.mjs";
import { fill, num, percent } from "livepage/text.mjs";

const WORDS = TOKENS.map((token) => token.trim());
const ITEMS = WORDS.map((word, i) => ({
  key: `${i + 1}`,
  text: `${i + 1}  ${word}`,
}));

// ---- the numbers -------------------------------------------------------------------

export function compute({ layer, head, token }) {
  const rows = SCORES[HEADS * (layer - 1) + head - 1];
  const named = ITEMS.findIndex(({ key }) => key === token);
  const picked = named < 0 ? PICKED - 1 : named;
  const scores = rows[picked].map((s) => s / 1000);
  const best = rows.map((row) => row.indexOf(Math.max(...row)));
  const looking = (back) => best.filter((k, i) => i > 0 && i - k === back).length;
  return {
    ...{ token: picked, scores, weights: softmax(scores), best },
    ...{ before: looking(1), own: looking(0), items: ITEMS },
  };
}

function softmax(scores) {
  const m = Math.max(...scores);
  const terms = scores.map((s) => Math.exp(s - m));
  const l = terms.reduce((sum, term) => sum + term, 0);
  return terms.map((term) => term / l);
}

// ---- the picture -------------------------------------------------------------------

// On a wide page the tokens stand in a row, and arcs rise above it; on a narrow one they
// stand in a column, and the arcs rise to its right.
const WIDE = {
  ...{ width: 720, height: 262, wide: true, base: 194, thick: 44 },
  ...{ start: 2, letter: 7.6, pad: 26.4, gap: 7, near: 40, far: 13 },
};
const NARROW = {
  ...{ width: 320, height: 374, wide: false, base: 128, thick: 18 },
  ...{ start: 30, letter: 0, pad: 25, gap: 4, near: 30, far: 15 },
};

export function draw(_, numbers, { wide, words, title, live }) {
  const page = wide ? WIDE : NARROW;
  const places = tokens(page);
  return picture({ ...page, title }, [
    label(wide ? words.caption : words.short, 0, 14, { class: "caption", q: "p" }),
    others(numbers, places, page),
    looks(numbers, places, page),
    places.map((place, i) => token(place, i, numbers, page)),
    live ? places.map((place, i) => target(place, i, page)) : "",
  ]);
}

/** From where to where each token reaches; the parts of a word stand close together. */
function tokens({ start, letter, pad, gap }) {
  let end = start;
  return TOKENS.map((token, i) => {
    const from = end + (token === WORDS[i] ? 1 : gap);
    end = from + WORDS[i].length * letter + pad;
    return { from, size: end - from, middle: (from + end) / 2 };
  });
}

/** A point: how far along the tokens, and how far away from them. */
const point = (along, away, { wide, base }) =>
  wide
    ? `${round(along)} ${round(base - away)}`
    : `${round(base + away)} ${round(along)}`;

/** An arc between two places, or, from a place to itself, a stem. */
function arc(from, to, rise, page) {
  const at = (along, away) => point(along, away, page);
  return `M${at(from, 0)}C${at(from, rise)} ${at(to, rise)} ${at(to, 0)}`;
}
const stem = (at, page) => `M${point(at, 0, page)}L${point(at, page.near * 0.6, page)}`;

/** Thin, what every other token looks at most. */
function others({ token: picked, best }, places, page) {
  const thin = (k, i) => {
    if (i === picked) return "";
    const [from, to] = [places[k].middle, places[i].middle];
    const d = k === i ? stem(to, page) : arc(from, to, reach(i - k, page), page);
    return tag("path", { key: `o${i}`, class: "most", d });
  };
  return best.map(thin);
}

const reach = (back, { near, far }) => near + far * back;

/** From each token to the one that looks at it, as thick as its weight; the arcs land
 *  side by side, so that none cross. */
function looks({ token: i, weights }, places, page) {
  let [at, below] = [places[i].middle - page.thick / 2, 0];
  const one = (k) => {
    const thick = weights[k] * page.thick;
    at += thick;
    const to = at - thick / 2;
    const rise = Math.max(reach(i - k, page), below + (thick / 2 + 2) / 0.75);
    below = rise + thick / 1.5;
    const d = k === i ? stem(to, page) : arc(places[k].middle, to, rise, page);
    const look = { key: `a${k}`, class: "look", "stroke-width": thick };
    return tag("path", { ...look, d });
  };
  const order = weights.map((_, k) => i - 1 - k).slice(0, i);
  return [...order, i].map(one);
}

/** A token in its box, and its share of the weight. */
function token({ from, size, middle }, k, { token: i, weights, best }, page) {
  const { wide, base } = page;
  const box = wide
    ? { x: from, y: base + 4, width: size, height: 28 }
    : { x: 2, y: from, width: 80, height: size };
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2 + 4.5];
  const share = k > i ? "" : percent(weights[k]);
  const look = `middle ${k === best[i] ? "strong" : "small"}`;
  return group(
    { class: k > i ? "later" : "" },
    rect({ ...box, class: `band ${k === i ? "lit" : ""}`, rx: 5 }),
    label(WORDS[k], x, y, `middle ${k === i ? "strong" : ""}`),
    label(share, wide ? middle : 106, wide ? box.y + 46 : y, { class: look, q: "p" }),
  );
}

/** Where a reader can point: at a token, and at all that stands over it. */
const target = ({ from, size }, k, { wide, width, height }) =>
  rect({
    class: "target",
    "data-pick-one": `${k + 1}`,
    ...(wide
      ? { x: from, y: 24, width: size, height: height - 24 }
      : { x: 0, y: from, width, height: size }),
  });

// ---- the words ---------------------------------------------------------------------

export function say({ layer, head }, { token: i, weights, best, before, own }, words) {
  const k = best[i];
  const back = i - k;
  const looked = [words.itself, words.before][back] ?? words.back;
  return fill(words.say, {
    ...{ layer, head, before, own, count: WORDS.length - 1 },
    token: WORDS[i],
    best: fill(looked, { back, word: WORDS[k] }),
    share: percent(weights[k]),
  });
}

export function table(_, { token: i, scores, weights }, words) {
  const caption = fill(words.tableCaption, { token: WORDS[i] });
  const rows = scores.map((s, k) => [WORDS[k], num(s, 2), num(weights[k])]);
  return { caption, head: words.tableHead, rows };
}
