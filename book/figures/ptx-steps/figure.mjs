// One thread through PTX: each instruction of a turn of a loop, beside the line of Python
// that it is for, and what it leaves in the registers.

import { D, LOOPS, ROWS, THREAD } from "livepage/constants";
import { fading, picture } from "livepage/picture.mjs";
import { group, label, rect, tag } from "livepage/shapes.mjs";
import { fill, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

export function compute({ loop, step }) {
  const turn = LOOPS[loop];
  const { lines, given, steps } = turn;
  const at = Math.min(step, steps.length);
  const past = steps.slice(0, at);
  return {
    turn,
    at,
    past,
    steps: steps.length,
    now: past[at - 1] ?? null,
    done: lines.map((_, k) => past.filter(([, line]) => line === k).length),
    share: at / steps.length,
    held: held(turn, at),
    values: Object.assign({}, given, ...past.map(([, , wrote]) => wrote)),
  };
}

/** The registers that an instruction reads. */
function read([text, , wrote]) {
  return text.match(/%\w+/g).slice(Object.keys(wrote).length);
}

/** Whether a register is read after so many steps. */
function needed({ steps, later }, reg, at) {
  return (
    later.includes(reg) || steps.slice(at).some((step) => read(step).includes(reg))
  );
}

/** Which register stands in which row: a row is free once its value has been read. */
function held(turn, at) {
  const rows = Object.keys(turn.given);
  turn.steps.slice(0, at).forEach(([, , wrote], k) => {
    rows.forEach((reg, i) => {
      if (reg && !needed(turn, reg, k)) rows[i] = null;
    });
    for (const reg of Object.keys(wrote).filter((one) => !rows.includes(one))) {
      const free = rows.indexOf(null);
      rows[free < 0 ? rows.length : free] = reg;
    }
  });
  return rows;
}

// ---- the picture -------------------------------------------------------------------

const MARGIN = 16; // for the number of a line of Python

const WIDE = {
  width: 720,
  height: 478,
  python: { x: 0, y: 14, width: 336, pitch: 42, box: 9 },
  ptx: { x: 356, y: 14, width: 364, rows: 25, gap: ", " },
  registers: { x: 0, y: 250, width: 336, across: 1 },
};
const NARROW = {
  width: 320,
  height: 546,
  python: { x: 0, y: 14, width: 320, pitch: 36, box: 9 },
  ptx: { x: 0, y: 218, width: 320, rows: 9, gap: "," },
  registers: { x: 0, y: 418, width: 320, across: 2 },
};
const PITCH = 18;

export function draw(state, numbers, { wide, words, title, was }) {
  const page = wide ? WIDE : NARROW;
  const forward = was?.loop === state.loop && was.step === state.step - 1;
  const scene = { words, state, forward, ...page };
  const parts = [python, listing, registers].map((part) => part(numbers, scene));
  if (wide && numbers.now) parts.push(link(numbers, page));
  return picture({ ...page, title, glide: 350 }, [
    group({ class: wide && "roomy" }, ...parts.flat(Infinity)),
  ]);
}

/** From the line of Python to the instruction. */
function link({ now, at }, { python: { x, y, width, pitch }, ptx }) {
  const from = y + 8 + now[1] * pitch + (pitch - 3) / 2;
  const to = ptx.y + 8 + (Math.min(at, ptx.rows) - 0.5) * PITCH;
  const end = x + width;
  const d = `M${end} ${from}H${(end + ptx.x) / 2}V${to}H${ptx.x}`;
  return tag("path", { key: "link", class: "link", d });
}

/** The loop's lines, each with a box for every instruction done for it. */
function python({ turn, now, done }, { words, python: { x, y, width, pitch, box } }) {
  const row = (text, k) => {
    const [top, lit] = [y + 8 + k * pitch, now?.[1] === k];
    const boxes = Array.from({ length: done[k] }, (_, i) =>
      rect({
        key: `b${k}-${i}`,
        class: `done${lit && i === done[k] - 1 ? " now" : ""}`,
        ...{ x: x + MARGIN + i * box, y: top + 20, width: box - 2, height: 9, rx: 1 },
      }),
    );
    return [
      lit ? band("line", x, top, width, pitch - 3) : "",
      label(k + 1, x + 2, top + 14, `code small${lit ? " lit" : ""}`),
      label(text, x + MARGIN, top + 14, "code"),
      boxes,
      label(done[k], x + width - 3, top + 29, `end ${lit ? "strong" : "small"}`),
    ];
  };
  return [
    label(words.python, x, y, "caption"),
    label(words.count, x + width, y, "caption end"),
    turn.lines.map(row),
  ];
}

const band = (key, x, y, width, height) =>
  rect({ key, class: "band lit", rx: 4, x, y, width, height });

/** The instructions so far; when they are too many, the last of them. */
function listing({ past, at }, scene) {
  const { words, state, forward, ptx } = scene;
  const { x, y, width, rows, gap } = ptx;
  const first = Math.max(0, at - rows);
  const top = (k) => y + 8 + (k - first) * PITCH;
  const row = ([text, line], i) => {
    const k = first + i;
    const [now, opens] = [k === at - 1, i === 0 || past[k - 1][1] !== line];
    return group(
      { key: `${state.loop}${k}`, ...fading([0, 1], forward && now) },
      opens
        ? label(line + 1, x + 2, top(k) + 13, {
            key: `${state.loop}n${k}`,
            class: "code small",
          })
        : "",
      label(text.replaceAll(", ", gap), x + 14, top(k) + 13, {
        key: `${state.loop}t${k}`,
        class: `code ${now ? "now" : line === past[at - 1][1] ? "" : "past"}`,
      }),
    );
  };
  return [
    label(words.ptx, x, y, "caption"),
    label(fill(words.so, { at }), x + width, y, "caption end"),
    rect({ class: "band", rx: 4, x, y: y + 6, width, height: rows * PITCH + 4 }),
    at
      ? band("step", x, top(at - 1), width, PITCH)
      : label(words.none, x + 5, top(0) + 13, "small"),
    past.slice(first).map(row),
  ];
}

/** The registers that are still needed. */
function registers(numbers, scene) {
  const { words, registers: place } = scene;
  const { x, y, width } = place;
  return [
    label(words.registers, x, y, "caption"),
    label(words.marks, x + width, y, "caption end"),
    numbers.held.map((reg, i) => (reg ? register(reg, i, numbers, scene) : "")),
  ];
}

/** One register: lit if it was just written, outlined if it was read for that. */
function register(reg, i, { values, past, now, turn }, { words, registers: place }) {
  const { x, y, width, across } = place;
  const down = Math.ceil(ROWS / across);
  const [left, wide] = [
    x + Math.floor(i / down) * (width / across),
    width / across - 4,
  ];
  const top = y + 8 + (i % down) * PITCH;
  const written = now && reg in now[2];
  const used = now && read(now).includes(reg);
  const text = `code${written ? " now" : ""}`;
  const code = named(reg, turn, past) ?? (is(values[reg], "string") ? "address" : "");
  const name = words.names[code] ?? code;
  const value = shown(values[reg], words);
  const fits = (value.length + name.length) * 8 < wide - 50;
  const frame = `reg ${written ? "wrote" : used ? "used" : ""}`;
  return [
    rect({ x: left, y: top, width: wide, height: PITCH - 2, rx: 3, class: frame }),
    label(reg.slice(1), left + 5, top + 13, text),
    label(value, left + 52, top + 13, text),
    fits ? label(name, left + wide - 5, top + 13, "code small end") : "",
  ];
}

/** What a register holds, as Python calls it, if it has a name there. */
function named(reg, { names, results }, past) {
  return past.some(([, , wrote]) => reg in wrote) ? results[reg] : names[reg];
}

function shown(value, { yes, no }) {
  return is(value, "boolean") ? (value ? yes : no) : minus(value);
}

const is = (value, type) => typeof value === type; // an address is a string

const minus = (value) => String(value).replace(/^-/, "−");

// ---- the words ---------------------------------------------------------------------

/** What the current instruction does: first in words, then what that is good for, and
 *  the name that its result has in Python. */
function does({ now, values, past, turn }, words) {
  const [op, ...rest] = now[0].replace(/^@|[[\],]/g, "").split(" ");
  const operands = op[0] === "%" ? [op] : rest; // a branch asks it, and writes nothing
  const earlier = past.slice(0, -1);
  const [, a, b, c] = operands.map((each) => called(each, turn, earlier));
  const d = operands[0].slice(1);
  const [reg] = Object.keys(now[2]);
  const name = turn.results[reg];
  const family = familyOf(op);
  const shift = Number(operands[2]);
  return [
    fill(words.does[family], {
      ...{ d, a, b, c, v: shown(values[reg], words) },
      place: element(values[operands[family === "ld" ? 1 : 0]]),
    }),
    fill(words.why[reason(family, operands, earlier, values[reg])] ?? "", {
      b,
      power: 2 ** shift,
      worth: 2 ** (63 - shift),
      all: 2 ** (64 - shift) - 1,
      step: -shift,
    }),
    name &&
      fill(Object.values(turn.names).includes(name) ? words.next : words.is, { name }),
  ];
}

/** The key of its explanation: the opcode, as far as that matters. */
function familyOf(op) {
  if (op[0] === "%") return "bra";
  const [name, kind] = op.split(".");
  if (name === "shr") return kind[0] === "s" ? "signed" : "unsigned";
  return name === "setp" ? kind : name;
}

/** An operand in a sentence; a register with its name in Python, if it has one. */
function called(operand, turn, past) {
  if (operand[0] !== "%") return operand === SIGN ? "−2^{63}" : minus(operand);
  const name = named(operand, turn, past);
  return operand.slice(1) + (name && name !== "left" ? ` (${name})` : "");
}

const SIGN = "-9223372036854775808"; // the sign and nothing else, of 64 bits

/** Which remark fits: it depends on the operands, and where the first comes from. */
function reason(family, [, a, b], past, result) {
  const source = past.filter(([, , wrote]) => a in wrote).pop()?.[0] ?? "";
  if (family === "signed") return b === "63" ? "sign" : "halved";
  if (family === "unsigned") return source.startsWith("shr") ? "ones" : "worth";
  if (family === "add") return is(result, "string") ? "address" : "";
  if (family !== "and") return family;
  return b === SIGN ? "kept" : b[0] === "%" ? "mask" : "below";
}

/** "K + 8472", an address, as the element that lies there. */
function element(address) {
  const [array, bytes = 0] = String(address).split(" + ");
  const k = bytes / 4;
  return `${array}[${Math.floor(k / D)}, ${k % D}]`;
}

export function say(_, numbers, words) {
  const { now, at, done, turn, steps } = numbers;
  const { once, turns, copies } = turn;
  const moving = turn.steps.filter(([text]) => /^(ld|st)/.test(text)).length;
  const values = { thread: THREAD, once, turns, copies, steps, moving };
  if (!now) return fill(words.sayStart, values);
  const line = now[1];
  const where = fill(words.sayLine, { line: line + 1, n: done[line] });
  const told = [where, ...does(numbers, words)].filter(Boolean).join(" ");
  if (at < steps) return told;
  const none = done.flatMap((count, k) => (count ? [] : [k + 1]));
  const end = [
    words.sayEnd,
    none.length ? words.sayNone : "",
    copies > 1 ? words.sayCopies : "",
    words.sayOnce,
  ];
  return `${told} ${sentences(end, { ...values, none: none.join(words.and) })}`;
}

export function table(_, { turn, done }, words) {
  const rows = turn.lines.map((text, k) => [
    `${k + 1}: ${text.trim()}`,
    done[k],
    turn.steps.filter(([, line]) => line === k).length,
  ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
