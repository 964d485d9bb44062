// The engine's own words in the page's language, and how numbers are written.

/** A function that gives words in the language of an element. */
function wordsFor(element) {
  const language = (element.closest("[lang]")?.lang || "en").slice(0, 2);
  const table = { ...WORDS.en, ...WORDS[language] };
  const word = (key, values = {}) =>
    Object.entries(values).reduce(
      (text, [name, value]) => text.replaceAll(`{${name}}`, String(value)),
      table[key],
    );
  word.column = (name) => QUANTITIES[name] ?? table[name] ?? name;
  word.language = language;
  return word;
}

/** A number or a list as a reader writes it: 2, 0.13534, −∞. */
function show(value, digits = 5) {
  if (Array.isArray(value)) return value.map((part) => show(part, digits)).join(", ");
  const known = typeof value === "string" ? number(value) : value;
  if (known === undefined || known === null) return String(value);
  if (Number.isNaN(known)) return "NaN";
  if (!Number.isFinite(known)) return known > 0 ? "∞" : "−∞";
  return String(Number(known.toPrecision(digits))).replaceAll("-", "−");
}

/** An element with attributes and children; text is never read as HTML. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/** An element whose content is HTML from the book's own bank. */
function fromBank(tag, html, attributes = {}) {
  const element = make(tag, attributes);
  element.innerHTML = html;
  return element;
}
