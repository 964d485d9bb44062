// The arithmetic a reader may type: the twin of expression.py, rule for rule.

const NUMBER = /((?:\d{1,3}(?:,\d{3}){2,}|\d+(?:[.,]\d+)?|[.,]\d+)(?:[eE][+-]?\d+)?)/
  .source;
const NAME = /([A-Za-z_][A-Za-z0-9_]*)/.source;
const MARK = /([-+*/^()%])/.source;
const TOKEN = new RegExp(`\\s*(?:${NUMBER}|${NAME}|${MARK})`, "y");
const SPELLINGS = {
  "−": "-", "–": "-", "×": "*", "·": "*", "⋅": "*", "÷": "/", "**": "^",
  "√": " sqrt ", "∞": " inf ", "ℓ": " l ", "α": " alpha ", "π": " pi ",
};
const RAISED = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁽⁾";
const LOWERED = "0123456789-+()";
const CONSTANTS = {
  e: Math.E, pi: Math.PI, inf: Infinity, infinity: Infinity, nan: NaN,
};
const FUNCTIONS = {
  exp: Math.exp, log: Math.log, ln: Math.log, log2: Math.log2, sqrt: Math.sqrt,
  abs: Math.abs,
  harmonic(n) {
    let sum = 0;
    for (let k = 1; k <= n; k += 1) sum += 1 / k;
    return sum;
  },
};

const own = (table, key) => Object.prototype.hasOwnProperty.call(table, key);

/** The value of an expression; throws where it cannot be read. */
function evaluate(text, names = {}) {
  const tokens = tokenize(plain(String(text)));
  const known = { ...CONSTANTS, ...names };
  let place = 0;

  const kind = () => (place < tokens.length ? tokens[place].kind : null);
  const word = () => (place < tokens.length ? tokens[place].text : "");
  const unreadable = () => new Error(`cannot read '${text}' at '${word()}'`);

  function take(...marks) {
    if (kind() !== "mark" || !marks.includes(word())) return "";
    place += 1;
    return tokens[place - 1].text;
  }

  function sum() {
    let value = term();
    for (let sign = take("+", "-"); sign; sign = take("+", "-")) {
      const other = term();
      value = sign === "+" ? value + other : value - other;
    }
    return value;
  }

  function term() {
    let value = signed();
    for (;;) {
      const sign = take("*", "/");
      const beside = kind() === "name" || word() === "(";
      if (!sign && !beside) return value;
      const other = signed();
      value = sign === "/" ? value / other : value * other;
    }
  }

  function signed() {
    const sign = take("-", "+");
    if (sign) return sign === "-" ? -signed() : signed();
    return power();
  }

  function power() {
    const value = atom();
    if (take("^")) return value ** signed();
    return take("%") ? value / 100 : value;
  }

  function atom() {
    const [is, said] = [kind(), word()];
    place += 1;
    if (is === "number") return decimal(said);
    if (said === "(") return closed(sum());
    if (is === "name") {
      const lower = said.toLowerCase();
      if (own(known, said)) return known[said];
      if (own(known, lower)) return known[lower];
      if (own(FUNCTIONS, lower)) return FUNCTIONS[lower](power());
    }
    place -= 1;
    throw unreadable();
  }

  function closed(value) {
    if (!take(")")) throw unreadable();
    return value;
  }

  const value = sum();
  if (kind() !== null) throw unreadable();
  return value;
}

/** One comma is a decimal point; several part thousands. */
function decimal(text) {
  const parts = text.split(",");
  return Number(parts.join(parts.length > 2 ? "" : "."));
}

function plain(text) {
  const run = new RegExp(`[${RAISED}]+`, "g");
  const lower = (digits) => [...digits].map((c) => LOWERED[RAISED.indexOf(c)]).join("");
  let result = text.replace(run, (digits) => `^(${lower(digits)})`);
  for (const [spelling, sign] of Object.entries(SPELLINGS)) {
    result = result.replaceAll(spelling, sign);
  }
  return result.trim();
}

function tokenize(text) {
  const tokens = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (!match) throw new Error(`cannot read '${text}'`);
    const kind = match[1] ? "number" : match[2] ? "name" : "mark";
    tokens.push({ kind, text: match[1] || match[2] || match[3] });
  }
  return tokens;
}
