// The arithmetic a reader may type: the twin of expression.py, rule for rule. What
// people type for a sign, and how a number may be written, both read from reading.json.

import READING from "../reading.json" with { type: "json" };

const CONSTANTS = {
  e: Math.E,
  pi: Math.PI,
  inf: Infinity,
  infinity: Infinity,
  nan: NaN,
};
const FUNCTIONS = { ln: Math.log, harmonic };
for (const name of READING.functions) FUNCTIONS[name] = Math[name];
export const LEAST = 5e-324; // stands for what is too small for a float, and still is not 0
const EULER_GAMMA = 0.5772156649015329;

/** 1 + 1/2 + … + 1/n, at once for any n. */
function harmonic(n) {
  if (n > 100) {
    // The Euler–Maclaurin series: its next term is below the last digit of a float.
    const tail = 1 / (2 * n) - 1 / (12 * n ** 2) + 1 / (120 * n ** 4);
    return Math.log(n) + EULER_GAMMA + tail;
  }
  let sum = n > 0 ? 0 : n * 0;
  for (let k = 1; k <= n; k += 1) sum += 1 / k;
  return sum;
}

/** The value of an expression, read in the way of a language if it can be. */
export const evaluate = (text, names, language) =>
  readings(text, names, language)[0].value;

/**
 * What a text may mean, one reading or more, first that of the language. Each has a value, and what one more in
 * the last digit typed would add to it (0 where the text is more than a bare number).
 * Throws where no convention can read it.
 */
export function readings(text, names = {}, language = "en") {
  const typed = String(text);
  if ([...typed].length > READING.longest) throw new Error("too long");
  const found = [];
  let fault = null;
  const own = READING.own[language];
  for (const convention of [...(own ? [own] : []), ...READING.conventions]) {
    try {
      const reading = readAs(convention, typed, names);
      if (!found.some(({ value }) => isOne(value, reading.value))) found.push(reading);
    } catch (error) {
      fault ??= error;
    }
  }
  if (!found.length) throw fault;
  return found;
}

const COUNTED = new RegExp(`^(?:${READING.counted})$`);

/** A text without the words at its end that say what its number counts: 16 blocks. */
export function uncounted(text, nouns) {
  const found = text.length <= READING.longest && COUNTED.exec(text);
  const singular = found && found[2].toLowerCase().replace(/(?<!s)s$/, "");
  return nouns.includes(singular) ? uncounted(found[1], nouns) : text;
}

/** The first name in a text that is not known, or nothing. */
export function unknown(text, names) {
  const known = { ...CONSTANTS, ...READING.words, ...FUNCTIONS, ...names, frac: null };
  const isKnown = (name) => Object.hasOwn(known, name);
  try {
    const typed = [...String(text)].slice(0, READING.longest).join("");
    return (
      tokenize(plain(typed), READING.conventions[0]).find(
        ({ kind, text: name }) =>
          kind === "name" && !isKnown(name) && !isKnown(name.toLowerCase()),
      )?.text ?? ""
    );
  } catch {
    return "";
  }
}

const isOne = (a, b) => a === b || Object.is(a, b);

function readAs(convention, text, names) {
  const tokens = tokenize(plain(text), convention);
  const known = { ...CONSTANTS, ...READING.words, ...names };
  const reader = new Reader(tokens, known, text);
  const value = reader.whole();
  const unit = precision(tokens, known);
  return { value: value === 0 && reader.beyond ? LEAST : value, unit };
}

/**
 * The weight of the last digit of a bare number, or of one with its unit: 52 KiB,
 * 17 billion and 85 % are such numbers, too.
 */
function precision(tokens, known) {
  const { kind, text: last } = tokens.at(-1);
  const name = [last, last.toLowerCase()].find((one) => Object.hasOwn(known, one));
  const scale = kind === "name" ? (known[name] ?? 0) : 1;
  const follows = kind === "name" || last === "%";
  const bare = tokens
    .slice(0, follows ? -1 : undefined)
    .filter(({ text }) => text !== "-" && text !== "+");
  if (bare.length !== 1 || bare[0].kind !== "number") return 0;
  return unitOf(bare[0].text) * (last === "%" ? 0.01 : scale);
}

/** The weight of the last digit of a number written with a point. */
function unitOf(number) {
  const [digits, power] = number.toLowerCase().split("e");
  const decimals = (digits.split(".")[1] ?? "").length;
  return Number(`1e${Number(power ?? 0) - decimals}`);
}

/** The many ways to type a sign, rewritten into the one the grammar knows. */
function plain(text) {
  let result = text;
  for (const [spelling, sign] of READING.spellings) {
    result = result.replaceAll(spelling, sign);
  }
  const {
    fractions,
    raised: [raised, lowered],
  } = READING;
  const parts = new RegExp(`([0-9]+ ?)?([${Object.keys(fractions).join("")}])`, "g");
  result = result.replace(parts, (_, n, part) => `(${n ?? 0}+${fractions[part]})`);
  const lower = (digits) => [...digits].map((c) => lowered[raised.indexOf(c)]).join("");
  const run = new RegExp(`[${raised}]+`, "g");
  result = result.replace(run, (digits) => `^(${lower(digits)})`);
  // Of "w = 0.5" the number is read. Of code such as "l += 1" it would be a mistake.
  if (/;|[-+*/]=[^=]*$/.test(result)) return result;
  return result.slice(result.lastIndexOf("=") + 1).replace(/^ +| +$/g, "");
}

/** The parts of a text: numbers, names and marks. */
function tokenize(text, convention) {
  const tokens = [];
  let position = 0;
  while (position < text.length) {
    if (text[position] === " ") {
      position += 1;
      continue;
    }
    const { length, ...token } = tokenAt(text, position, convention);
    tokens.push(token);
    position += length;
  }
  return tokens;
}

function tokenAt(text, position, convention) {
  const match = (pattern) => {
    const sticky = new RegExp(pattern, "y");
    sticky.lastIndex = position;
    return sticky.exec(text)?.[0] ?? "";
  };
  let found = match(READING.hexadecimal);
  if (found) {
    return { kind: "number", text: String(Number(found)), length: found.length };
  }
  found = match(convention.number);
  if (found) {
    return { kind: "number", text: decimal(found, convention), length: found.length };
  }
  if (match(READING.times)) return { kind: "mark", text: "*", length: 1 };
  for (const kind of ["name", "mark"]) {
    found = match(READING[kind]);
    if (found) return { kind, text: found, length: found.length };
  }
  throw new Error(`cannot read '${text}'`);
}

/** A number of a convention, written with a point and without groups. */
function decimal(number, { groups, point }) {
  let result = number;
  for (const mark of groups) result = result.replaceAll(mark, "");
  return result.replaceAll(point, ".");
}

/** Recursive descent: a sum of terms, a term of powers, a power of atoms. */
class Reader {
  constructor(tokens, names, source) {
    Object.assign(this, { tokens, names, source, position: 0, depth: 0 });
    this.beyond = false; // some power was too small or too large for a float
  }

  get kind() {
    return this.tokens[this.position]?.kind ?? null;
  }

  get text() {
    return this.tokens[this.position]?.text ?? "";
  }

  unreadable() {
    return new Error(`cannot read '${this.source}' at '${this.text}'`);
  }

  take(...marks) {
    if (this.kind !== "mark" || !marks.includes(this.text)) return "";
    this.position += 1;
    return this.tokens[this.position - 1].text;
  }

  whole() {
    const value = this.sum();
    if (this.kind !== null) throw this.unreadable();
    return value;
  }

  sum() {
    let value = this.term();
    for (let sign = this.take("+", "-"); sign; sign = this.take("+", "-")) {
      const other = this.term();
      value = sign === "+" ? value + other : value - other;
    }
    return value;
  }

  term() {
    let value = this.signed();
    for (;;) {
      const sign = this.take("*", "/");
      const beside = this.kind === "name" || this.text === "(";
      if (!sign && !beside) return value;
      const other = this.signed();
      value = sign === "/" ? value / other : value * other;
    }
  }

  /** A power and its signs; every nested part of a text comes by here. */
  signed() {
    this.depth += 1;
    if (this.depth > READING.deepest) throw new Error("too deeply nested");
    const sign = this.take("-", "+");
    const value = sign ? this.signed() : this.power();
    this.depth -= 1;
    return sign === "-" ? -value : value;
  }

  power() {
    const value = this.atom();
    if (this.take("^")) {
      const exponent = this.signed();
      return this.noted(value ** exponent, value, exponent);
    }
    return this.take("%") ? value / 100 : value;
  }

  atom() {
    const { kind, text, names } = this;
    this.position += 1;
    if (kind === "number") {
      return this.noted(Number(text), /[1-9]/.test(text.split(/e/i)[0]) ? 1 : 0);
    }
    if (text === "(") return this.closed(this.sum());
    if (text === "frac") return this.atom() / this.atom(); // \frac{1}{8}, LaTeX
    if (kind === "name") {
      const lower = text.toLowerCase();
      if (Object.hasOwn(names, text)) return names[text];
      if (Object.hasOwn(names, lower)) return names[lower];
      if (Object.hasOwn(FUNCTIONS, lower)) {
        const value = this.argument();
        const found = FUNCTIONS[lower](value);
        return lower === "exp" ? this.noted(found, value) : found;
      }
    }
    this.position -= 1;
    throw this.unreadable();
  }

  /** A value; it is noted if it is beyond a float, though its parts are not. */
  noted(value, ...parts) {
    const ordinary = parts[0] !== 0 && parts.every(Number.isFinite);
    this.beyond ||= ordinary && (value === 0 || Math.abs(value) === Infinity);
    return value;
  }

  /** What a function is applied to: exp(2), exp -1, log 2^3. */
  argument() {
    return this.text === "(" ? this.atom() : this.signed();
  }

  closed(value) {
    if (!this.take(")")) throw this.unreadable();
    return value;
  }
}
