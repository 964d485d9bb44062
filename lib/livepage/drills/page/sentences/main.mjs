// What running code says, in the page's language: the twin of livepage/sentences.py.

import { language, pairs } from "livepage/sentences";

const SLOT = /\{(\w+)\}/g;
const PROSE = /[\p{L}\p{N}_'")\]] ['"(]?[A-Za-z]/u; // between the words of a sentence
const HERE = /\b(a kernel) here\b/g; // said of what only the simulator declines
const CAPITAL = /^(Thread|Lane) /; // a phrase that begins a sentence
const JOINS = ": "; // "thread 3: IndexError: …": what follows may be in whatever language

class Translator {
  constructor(of) {
    this.phrases = new Map();
    this.patterns = [];
    for (const [english, own] of Object.entries(of)) {
      if (english.search(SLOT) < 0) this.phrases.set(english, own);
      else this.patterns.push(new Pattern(english, own));
    }
    this.patterns.sort((a, b) => b.literal.length - a.literal.length);
  }

  translate(message) {
    const text = message.replace(HERE, "$1");
    const found = CAPITAL.test(text) ? null : this.find(text, false);
    if (found !== null) return found;
    const lower = this.find(text.slice(0, 1).toLowerCase() + text.slice(1), false);
    return lower && lower.slice(0, 1).toUpperCase() + lower.slice(1);
  }

  find(text, inside) {
    if (this.phrases.has(text)) return this.phrases.get(text);
    if (!text.includes(" ")) return null;
    for (const pattern of this.patterns) {
      const filled = this.fill(pattern, text, inside);
      if (filled !== null) return filled;
    }
    return null;
  }

  /** The translation by one pattern, or null. Alone, a pattern with hardly a word is no
   *  proof that the message is a known one; `inside` a slot it is. */
  fill(pattern, text, inside) {
    const match = pattern.regex.exec(text);
    if (!match) return null;
    const filled = {};
    let known = pattern.strong || inside;
    for (const [i, name] of pattern.names.entries()) {
      const value = match[i + 1];
      const found = this.find(value, pattern.strong);
      if (found === null && !pattern.free(name) && PROSE.test(value)) return null;
      known ||= found !== null;
      filled[name] = found ?? value;
    }
    return known ? pattern.own.replace(SLOT, (_, name) => filled[name]) : null;
  }
}

class Pattern {
  constructor(english, own) {
    this.own = own;
    this.names = [...english.matchAll(SLOT)].map(([, name]) => name);
    this.freeEnd = /: \{(\w+)\}$/.exec(english)?.[1];
    const parts = english.split(/\{\w+\}/);
    const escaped = parts.map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
    this.regex = new RegExp(`^${escaped.join("(.+?)")}$`, "s");
    this.literal = parts.join("");
    const words = this.literal.match(/[A-Za-z]+/g) ?? [];
    this.strong = words.length > 1 || words.join("").length > 4;
  }

  /** Whether a slot may hold any text: a value, or what stands after a colon. */
  free(slot) {
    return /^\d+$/.test(slot) || slot === this.freeEnd || this.literal === JOINS;
  }
}

const common = new Translator(pairs);

/** A message in the page's language, or null where no pattern matches; `own` are the
 *  pairs of a drill. */
const translate = (message, own) =>
  (own ? new Translator({ ...pairs, ...own }) : common).translate(message);

globalThis.livepageSentences = {
  ...globalThis.livepageSentences,
  [language]: translate,
};
