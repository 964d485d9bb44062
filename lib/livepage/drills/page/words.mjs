// The words of the drills in the page's language.

import { quantities, words } from "livepage/drills";

import { show } from "../../numbers.mjs";

const tables = new Map();

/** All words in a language, English where it has none: put together once, for a page has
 *  many drills and cells that ask. */
function tableOf(from, language) {
  if (!tables.has(from)) tables.set(from, {});
  return (tables.get(from)[language] ??= { ...from.en, ...from[language] });
}

/** A function that gives words in the language of an element, the drills' or others. */
export function wordsFor(element, from = words) {
  const language = (element.closest("[lang]")?.lang || "en").slice(0, 2);
  const table = tableOf(from, language);
  const word = (key, values = {}) =>
    Object.entries(values).reduce(
      (text, [name, value]) => text.replaceAll(`{${name}}`, String(value)),
      table[key],
    );
  word.column = (name) => quantities[name] ?? table[name] ?? name;
  word.language = language;
  return word;
}

/** A sentence with its slots filled; faults.py says what may fill one. */
export function sentence(word, key, slots) {
  const written = (part) => {
    if (Array.isArray(part)) return show(...part);
    return part.column ? word.column(part.column) : part;
  };
  const filled = Object.entries(slots).map(([name, given]) => [
    name,
    Array.isArray(given) ? given.map(written).join("") : given,
  ]);
  return word(key, Object.fromEntries(filled));
}

/** A text as children of an element: what stands between backticks is code. */
export function marked(text) {
  return text
    .split(FOREIGN)
    .flatMap((part, i) =>
      i % 2 ? make("span", { lang: "en" }, ...withCode(part)) : withCode(part),
    );
}

function withCode(text) {
  const parts = text.split("`");
  return parts.map((part, i) => (i % 2 ? make("code", {}, part) : part));
}

const FOREIGN = /\ue001([^\ue002]*)\ue002/;

/** A part of a text that stays English on a page in another language. */
export const inEnglish = (text) => `\ue001${text}\ue002`;

/** An element with attributes and children; text is never read as HTML. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An element whose content is HTML from the book's own bank. */
export function fromBank(tag, html, attributes = {}) {
  const element = make(tag, attributes);
  element.innerHTML = html;
  return element;
}
