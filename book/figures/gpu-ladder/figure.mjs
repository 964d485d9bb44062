// The ladder: what a pair of a query and a key costs on each rung, and a bound.

import { DEVICES, RUNGS, WARPS, WIDTHS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect } from "livepage/shapes.mjs";
import { fill, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const FIELDS = [
  "sectors",
  "wavefronts",
  "instructions",
  "fma",
  "bound",
  "registers",
  "warps",
];

export function compute({ d, device, compiled, measured }) {
  const width = WIDTHS.indexOf(d);
  const start = (width * DEVICES.length + DEVICES.indexOf(device)) * RUNGS;
  const rungs = Array.from({ length: RUNGS }, (_, rung) => rung);
  const numbers = Object.fromEntries(
    FIELDS.map((name, at) => [
      name,
      rungs.map((rung) => compiled[(start + rung) * FIELDS.length + at]),
    ]),
  );
  return {
    ...numbers,
    share: rungs.map((rung) => numbers.fma[rung] / numbers.instructions[rung]),
    rates: measured.slice(start, start + RUNGS),
  };
}

// ---- the picture -------------------------------------------------------------------

const [NAME, VALUE, BAR, STEP, TOP] = [92, 62, 14, 19, 16];
const ROW = 30 + RUNGS * STEP;
const WIDE = { width: 720, height: 3 * ROW, across: 348, columns: 2 };
const NARROW = { width: 320, height: 6 * ROW, across: 318, columns: 1 };

/** The six quantities: each rung's bar, from 0 to 1, and what stands beside it. */
function panels({ sectors, wavefronts, instructions, share, bound, warps }, device) {
  const most = (values) => Math.max(...values, 1e-9);
  const of = (values) => values.map((x) => x / most(values));
  const log = (values) =>
    values.map((x) => Math.log2(1 + x * 64) / Math.log2(1 + most(values) * 64));
  return [
    [log(sectors), (i) => num(sectors[i], 2)],
    [of(wavefronts), (i) => num(wavefronts[i], 2)],
    [of(instructions), (i) => num(instructions[i], 0)],
    [share, (i) => percent(share[i])],
    [bound, (i) => percent(bound[i])],
    [warps.map((x) => x / WARPS[device]), (i) => String(warps[i])],
  ];
}

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words };
  return picture(
    { ...page, title, glide: 450 },
    panels(numbers, state.device).map(([lengths, text], i) =>
      panel(i, lengths, state.upto, text, page),
    ),
  );
}

/** One quantity, a row for each rung; those up to `shown` have a bar. */
function panel(place, lengths, shown, text, { across, columns, words }) {
  const x = (place % columns) * (across + 24);
  const y = TOP + Math.floor(place / columns) * ROW;
  const room = across - NAME - VALUE;
  return group(
    { key: `panel${place}`, q: place === 5 ? "o" : null },
    label(words.panels[place], x + 2, y, "caption"),
    ...lengths.map((length, i) => {
      const top = y + 10 + i * STEP;
      const bar = { x: x + NAME, y: top, height: BAR };
      const row = [
        label(words.rungs[i], x + 2, top + 12, "small"),
        rect({ class: "band", ...bar, width: room }),
      ];
      if (i >= shown) return row.join("");
      return [
        ...row,
        rect({
          key: `bar${place}-${i}`,
          class: `weight ${i === shown - 1 ? "new" : "old"}`,
          ...bar,
          width: Math.max(length ? 2 : 0, room * length),
        }),
        label(text(i), x + NAME + room + 7, top + 12, {
          key: `text${place}-${i}`,
          class: "small",
        }),
      ].join("");
    }),
  );
}

// ---- the words ---------------------------------------------------------------------

/** Speeds, where somebody has measured them. */
function times({ rates }, words) {
  if (rates.every((rate) => !rate)) return words.unmeasured;
  return fill(words.measured, { rates: rates.map((rate) => num(rate, 1)).join(", ") });
}

export function say({ d, device, upto }, numbers, words) {
  const [last, before] = [upto - 1, upto - 2];
  const at = (name, digits, i) => num(numbers[name][i] ?? 0, digits);
  const values = {
    d,
    device,
    rung: upto,
    below: upto - 1,
    sectors: at("sectors", 2, last),
    sectorsBelow: at("sectors", 2, before),
    waves: at("wavefronts", 2, last),
    wavesBelow: at("wavefronts", 2, before),
    count: at("instructions", 0, last),
    countBelow: at("instructions", 0, before),
    share: num(100 * numbers.share[last], 0),
    bound: num(100 * numbers.bound[last], 0),
    registers: numbers.registers[last],
    warps: numbers.warps[last],
  };
  const compared = before < 0 ? [] : [words.sayBelow];
  return sentences(
    [words.say, ...compared, words.sayBound, times(numbers, words)],
    values,
  );
}

export function table({ upto }, numbers, words) {
  const { sectors, wavefronts, instructions, share, bound, registers, warps } = numbers;
  const rows = words.rungs
    .slice(0, upto)
    .map((name, i) => [
      name,
      num(sectors[i], 2),
      num(wavefronts[i], 2),
      num(instructions[i], 0),
      percent(share[i]),
      percent(bound[i]),
      registers[i],
      warps[i],
    ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
