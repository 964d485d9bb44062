// The ladder: what each rung reads, takes and leaves room for; times where there are any.

import { DEVICES, N, WIDTHS } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect } from "livepage/shapes.mjs";
import { fill, grouped, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const [RUNGS, FIELDS] = [3, 6];
const SIDE = 4; // rows and keys of a thread in rung 3

export function compute({ d, device, compiled, measured }) {
  const width = WIDTHS.indexOf(d);
  const start = (width * DEVICES.length + DEVICES.indexOf(device)) * RUNGS;
  const rungs = [0, 1, 2].map((rung) =>
    compiled.slice((start + rung) * FIELDS, (start + rung + 1) * FIELDS),
  );
  const keys = rungs[2][1];
  const patch = (3 / SIDE + keys / (SIDE * d)) / 2;
  return {
    reads: rungs.map(([rows]) => Math.ceil(N / rows)),
    per_product: [1, 1, patch],
    registers: rungs.map((each) => each[2]),
    spills: rungs.map((each) => each[3]),
    share: rungs.map((each) => each[4] / each[5]),
    rates: measured.slice(start, start + RUNGS),
  };
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 348,
  across: 348,
  corners: [
    [0, 16],
    [372, 16],
    [0, 172],
    [372, 172],
  ],
};
const NARROW = {
  width: 320,
  height: 652,
  across: 318,
  corners: [
    [0, 16],
    [0, 168],
    [0, 320],
    [0, 472],
  ],
};
const [NAME, VALUE, BAR, STEP] = [80, 102, 22, 34];

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words };
  const { reads, per_product: products, registers, spills, share } = numbers;
  const spilled = (i) => (spills[i] ? words.spilled : words.unit);
  const panels = [
    [reads, reads.map((x) => Math.log2(x) / Math.log2(N)), (i) => grouped(reads[i])],
    [products, products, (i) => num(products[i], 2)],
    [
      registers,
      registers.map((x) => x / 255),
      (i) => fill(spilled(i), { count: registers[i], bytes: spills[i] }),
    ],
    [share, share, (i) => percent(share[i])],
  ];
  return picture({ ...page, title, glide: 450 }, [
    panels.map(([, lengths, text], i) =>
      panel(i, lengths.slice(0, state.third ? 3 : 2), text, spills, page),
    ),
    label(times(numbers, words), 2, page.height - 10, "strong"),
  ]);
}

/** One quantity, a bar for each rung. */
function panel(place, lengths, text, spills, { corners, across, words }) {
  const [x, y] = corners[place];
  const room = across - NAME - VALUE;
  return group(
    { key: `panel${place}`, q: place === 2 ? "o" : null },
    label(words.panels[place], x + 2, y, "caption"),
    ...lengths.map((length, i) => {
      const top = y + 14 + i * STEP;
      const fault = place === 2 && spills[i] > 0;
      const bar = { x: x + NAME, y: top, height: BAR };
      return [
        label(words.rungs[i], x + 2, top + 16, "small"),
        rect({ class: "band", ...bar, width: room }),
        rect({
          key: `bar${place}-${i}`,
          class: `weight ${place === 1 && i === 0 ? "old" : "new"}`,
          ...bar,
          width: Math.max(2, room * length),
        }),
        fault ? rect({ class: "fault", ...bar, width: room * length }) : "",
        label(text(i), x + NAME + room + 7, top + 16, {
          key: `text${place}-${i}`,
          class: fault ? "small lit" : "small",
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

export function say({ d, device, third }, numbers, words) {
  const { reads, per_product: products, registers, spills, share } = numbers;
  const values = {
    d,
    device,
    tiled: reads[1],
    patched: reads[2],
    patch: num(products[2], 2),
    r1: registers[0],
    r2: registers[1],
    r3: registers[2],
    lost1: spills[0],
    lost: spills[1],
    s1: num(100 * share[0], 0),
    s2: num(100 * share[1], 0),
    s3: num(100 * share[2], 0),
  };
  const spilled = spills[1] ? words.saySpilled : "";
  return sentences(
    [words.say, third ? words.sayThird : "", spilled, times(numbers, words)],
    values,
  );
}

export function table({ third }, numbers, words) {
  const { reads, per_product: products, registers, spills, share } = numbers;
  const rows = words.rungs
    .slice(0, third ? 3 : 2)
    .map((name, i) => [
      name,
      grouped(reads[i]),
      num(products[i], 2),
      registers[i],
      spills[i],
      percent(share[i]),
    ]);
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
