// From one picture to the next. The new SVG is merged into the one on the page, element
// by element, so that a dragged handle, a focus or a lit quantity survives; the numbers
// in attributes of keyed elements glide. A new picture may come at any moment: gliding
// starts again from whatever is on the screen, and nothing ever waits for it.

const GLIDING = new Set(
  "x y width height x1 x2 y1 y2 cx cy opacity d transform".split(" "),
);

/** Whether the reader wants nothing to move. */
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export class Picture {
  constructor(stage) {
    this.stage = stage;
    this.moves = [];
    this.frame = 0;
  }

  /** Show `svg` (a string); glide there if `moving`, jump otherwise. */
  show(svg, moving) {
    const next = parse(svg);
    const now = this.stage.querySelector("svg");
    cancelAnimationFrame(this.frame);
    this.moves = [];
    if (!now || this.stage.childElementCount > 1)
      return this.stage.replaceChildren(next);
    merge(now, next, moving ? this.moves : null);
    if (this.moves.length) this.glide(Number(next.dataset.glide));
  }

  glide(span) {
    const start = performance.now();
    const tick = (time) => {
      const t = Math.min(1, (time - start) / span);
      for (const move of this.moves) advance(move, t);
      if (t < 1) this.frame = requestAnimationFrame(tick);
    };
    tick(start);
  }

  /** Jump to the end of whatever is gliding (before printing, say). */
  settle() {
    cancelAnimationFrame(this.frame);
    for (const move of this.moves) advance(move, 1);
    this.moves = [];
  }
}

function parse(svg) {
  const template = document.createElement("template");
  template.innerHTML = svg;
  return template.content.firstElementChild;
}

/** Slow at both ends. */
const eased = (part) => (part < 0.5 ? 4 * part ** 3 : 1 - (2 - 2 * part) ** 3 / 2);
/** Once a little beyond its end, and back to rest, as a beam does. */
const swayed = (part) => 1 - Math.exp(-5 * part) * Math.cos(2.5 * Math.PI * part);

/** Show a move at `t`, from 0 at its start to 1 at its end. */
function advance({ node, attribute, start, end, from, to, shape, pace }, t) {
  const part = Math.min(1, Math.max(0, (t - start) / (end - start)));
  const done = pace(part);
  let i = 0;
  const next = () => from[i] + (to[i++] - from[i - 1]) * done;
  const between = () => shape.replace(NUMBER, () => Math.round(next() * 100) / 100);
  node.setAttribute(attribute, part === 1 ? shape : between());
}

/** What is the same already is left alone: most of a picture, from one input to the next. */
function merge(now, next, moves) {
  if (now.isEqualNode(next)) return;
  attributes(now, next, moves);
  if (next.nodeName !== "text") children(now, next, moves);
  else if (now.innerHTML !== next.innerHTML) now.innerHTML = next.innerHTML;
}

function children(now, next, moves) {
  const old = new Map(named(now));
  let following = now.firstChild;
  for (const [name, wanted] of named(next)) {
    const here = old.get(name);
    if (here) {
      old.delete(name);
      merge(here, wanted, moves);
    } else if (moves) enter(wanted, moves);
    const node = here ?? wanted;
    if (node === following) following = following.nextSibling;
    else now.insertBefore(node, following);
  }
  for (const gone of old.values()) gone.remove();
}

/** Every child with a name that stays: its key, or its number among those of its tag. */
function* named(parent) {
  const count = {};
  for (const child of [...parent.children]) {
    const tag = child.nodeName;
    const name = child.dataset.key ?? (count[tag] = (count[tag] ?? 0) + 1);
    yield [`${tag} ${name}`, child];
  }
}

function attributes(now, next, moves) {
  const lit = now.classList.contains("q-on");
  for (const { name } of [...now.attributes]) {
    if (!next.hasAttribute(name)) now.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    const from = now.getAttribute(name);
    if (from === value) continue;
    const glide = moves && next.dataset.key && move(now, next, name, from, value);
    if (glide) moves.push(glide);
    else now.setAttribute(name, value);
  }
  if (lit) now.classList.add("q-on");
}

/** An element that was not there before comes from where its data-from says. */
function enter(node, moves) {
  for (const each of [node, ...node.querySelectorAll("[data-from]")]) {
    for (const pair of each.dataset.from?.split(";") ?? []) {
      const [name, from] = pair.split(":");
      moves.push(move(each, each, name, from, each.getAttribute(name)));
    }
  }
}

const NUMBER = /-?[\d.]+/g;

/** How an attribute glides from one value to another; null if it can only jump. */
function move(node, { dataset }, attribute, before, after) {
  const shape = (text) => text.replace(NUMBER, "0");
  if (!GLIDING.has(attribute) || before === null || shape(before) !== shape(after))
    return null;
  const [from, to] = [before, after].map((text) => text.match(NUMBER).map(Number));
  const [start, end] = (dataset.at ?? "0 1").split(" ").map(Number);
  const pace = dataset.sway ? swayed : eased;
  return { node, attribute, from, to, shape: after, start, end, pace };
}
