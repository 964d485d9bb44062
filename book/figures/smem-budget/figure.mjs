// The budget: what a block of a kernel takes, and how many blocks fit at once.

import { MOST_SHARED, N, SIZES } from "livepage/constants";
import { picture } from "livepage/picture.mjs";
import { group, label, rect, upright } from "livepage/shapes.mjs";
import { fill, num, percent, sentences } from "livepage/text.mjs";

// ---- the numbers -------------------------------------------------------------------

const { kernel: KERNELS, d: WIDTHS, rows: ROWS, tile: KEYS, device: DEVICES } = SIZES;
const [WARP, PORTION, QUARTERS] = [32, 256, 4];

export function compute(state) {
  const { kernel, d, rows, tile: keys, device } = state;
  const sharers = kernel === "tiled" ? Math.max(d / 64, 1) : keys / 4; // of a row
  const parts =
    kernel === "tiled"
      ? [
          ["k", keys * (d + 4 * sharers) * 4],
          ["v", keys * (d + 4 * sharers) * 4],
        ]
      : [
          ["q", rows * (d + 4) * 4],
          ["kv", keys * (d + 4) * 4],
          ["p", rows * (keys + 8) * 4],
        ];
  const shared = parts.reduce((sum, [, bytes]) => sum + bytes, 0);
  const threads = (kernel === "tiled" ? rows : rows / 4) * sharers;
  const reads = Math.ceil(N / rows);
  const registers = compiled(state);
  const fits = registers > 0;
  const start = 6 * DEVICES.indexOf(device);
  const most = state.limits.slice(start, start + 6);
  const allowed = fits ? allows({ threads, registers, shared }, most) : [0, 0, 0, 0];
  const at_once = Math.min(...allowed);
  return {
    parts,
    shared,
    threads,
    registers,
    fits,
    most,
    allowed,
    at_once,
    reads,
    share: (at_once * threads) / most[0],
    moved: 4 * (2 * N * d + 2 * N * d * reads),
  };
}

/** Registers of a thread, as the compiler reported them; 0 if it refused. */
function compiled({ kernel, d, rows, tile, device, compiled: all }) {
  const choices = [
    [KERNELS, kernel],
    [WIDTHS, d],
    [ROWS, rows],
    [KEYS, tile],
    [DEVICES, device],
  ];
  return all[choices.reduce((at, [of, one]) => at * of.length + of.indexOf(one), 0)];
}

/** How many blocks the threads, the count of blocks, the registers and the shared memory
 *  each allow. */
function allows({ threads, registers, shared }, [most, blocks, all, room, unit, kept]) {
  const warps = Math.ceil(threads / WARP);
  const portion = Math.ceil((registers * WARP) / PORTION) * PORTION;
  const inQuarter = Math.floor(all / QUARTERS / portion);
  const each = Math.ceil((shared + kept) / unit) * unit;
  return [
    Math.floor(most / (warps * WARP)),
    blocks,
    Math.floor((QUARTERS * inQuarter) / warps),
    Math.floor(room / each),
  ];
}

// ---- the picture -------------------------------------------------------------------

const WIDE = {
  width: 720,
  height: 388,
  left: 150,
  right: 624,
  table: 44,
  office: 178,
  step: 56,
  name: { dx: -12, end: " end", dy: 22 },
};
const NARROW = {
  width: 320,
  height: 462,
  left: 2,
  right: 228,
  table: 35,
  office: 190,
  step: 72,
  name: { dx: 0, end: "", dy: -6 },
};
const LOOKS = {
  q: "score",
  k: "weight old",
  kv: "weight old",
  v: "weight new",
  p: "weight new",
};

export function draw(state, numbers, { wide, words, title }) {
  const page = { ...(wide ? WIDE : NARROW), words, wide };
  return picture({ ...page, title, glide: 450 }, [
    table_(numbers, page),
    office(numbers, page),
    verdict(numbers, page),
  ]);
}

/** One block's shared memory, part by part, against the 48 KiB. */
function table_({ parts, shared, fits }, { left, right, table: y, words, wide }) {
  const x0 = wide ? left - 148 : 2;
  const scale = (right + (wide ? 86 : 76) - x0) / Math.max(1.25 * MOST_SHARED, shared);
  let [at, free] = [x0, 0];
  const bars = parts.map(([name, bytes]) => {
    const [x, width] = [at, bytes * scale];
    at += width;
    const alike = parts.filter(([, other]) => other === bytes); // named in one way
    const longest = Math.max(...alike.map(([each]) => words.parts[each].length));
    const roomy = width > 8 * longest;
    const text = (roomy ? words.parts : words.short)[name];
    const half = 3.6 * text.length;
    const middle = Math.max(free + half, x + width / 2);
    free = middle + half + 4;
    return [
      rect({
        key: `part-${name}`,
        class: LOOKS[name],
        q: name === "p" ? "p" : null,
        x,
        y,
        width: Math.max(0, width - 1.5),
        height: 40,
      }),
      label(text, middle, y + 57, {
        key: `name-${name}`,
        class: "small middle",
      }),
    ];
  });
  const end = x0 + MOST_SHARED * scale;
  return group(
    { key: "table" },
    label(fill(words.table, { kb: kilo(shared) }), x0, y - 24, "caption"),
    ...bars.flat(),
    fits ? "" : rect({ class: "fault", x: x0, y, width: shared * scale, height: 40 }),
    upright(end, y - 8, y + 46, { key: "most", class: "max" }),
    label(words.most, end + 7, y + (wide ? 26 : -10), {
      key: "mostname",
      class: "max halo",
    }),
  );
}

/** A multiprocessor: three things it has, and what the blocks take of each. */
function office(numbers, page) {
  const { threads, registers, shared, at_once: count, most, allowed } = numbers;
  const each = [
    [threads, most[0], 0],
    [registers * threads, most[2], 2],
    [shared + most[5], most[3], 3],
  ];
  const { words, wide, left, office: top } = page;
  const scarce = Math.min(...allowed);
  return [
    label(
      wide ? words.office : words.officeShort,
      wide ? 2 : left,
      top - (wide ? 26 : 34),
      "caption",
    ),
    each.map(([one, all, i], row) =>
      gauge(
        {
          name: words.resources[row],
          one,
          all,
          count,
          row,
          scarce: count > 0 && allowed[i] === scarce,
        },
        page,
      ),
    ),
  ];
}

function gauge({ name, one, all, count, row, scarce }, page) {
  const { left, right, office: top, step, name: at, words } = page;
  const y = top + row * step;
  const unit = (right - left) / all;
  const block = (i) =>
    rect({
      key: `${row}-${i}`,
      class: `weight ${scarce ? "new" : "old"}`,
      x: left + i * one * unit,
      y,
      width: Math.max(0.5, one * unit - 1.5),
      height: 32,
    });
  const used = num((100 * count * one) / all, 0);
  return group(
    { key: `gauge${row}`, q: row === 1 ? "o" : null },
    rect({ class: "band", x: left, y, width: right - left, height: 32 }),
    ...Array.from({ length: count }, (_, i) => block(i)),
    label(name, left + at.dx, y + at.dy, `small${at.end}`),
    label(
      scarce ? fill(words.scarce, { used }) : `${used}%`,
      right + 8,
      y + 21,
      scarce ? "small lit" : "small",
    ),
  );
}

function verdict({ fits, at_once: count, share, reads, moved }, page) {
  const { words, height, wide } = page;
  const text = !fits ? words.refused : count === 1 ? words.verdictOne : words.verdict;
  const traffic = wide ? words.traffic : words.trafficShort;
  const values = {
    count,
    share: num(100 * share, 0),
    reads,
    moved: num(moved / 1e6, 0),
  };
  return [
    label(fill(text, values), 2, height - (wide ? 26 : 30), "strong"),
    label(fits ? fill(traffic, values) : "", 2, height - 8, "small"),
  ];
}

// ---- the words ---------------------------------------------------------------------

const kilo = (bytes) => num(bytes / 1024, 1);

export function say({ kernel, rows, tile: keys, d, device }, numbers, words) {
  const { shared, threads, registers, fits, share, allowed, reads } = numbers;
  const count = numbers.at_once;
  const scarce = ["threads", "blocks", "registers", "shared"].filter(
    (_, i) => allowed[i] === count,
  );
  const values = {
    kernel: words.choices[kernel],
    rows,
    keys,
    d,
    device,
    kb: kilo(shared),
    threads,
    registers,
    count,
    share: num(100 * share, 0),
    reads,
    scarce: scarce.map((name) => words.scarcity[name]).join(words.and),
  };
  const room = !fits
    ? words.sayRefused
    : count === 1
      ? words.sayFitsOne
      : words.sayFits;
  return sentences([words.say, room, fits && words.sayReads], values);
}

export function table(state, _, words) {
  const rows = KEYS.map((keys) => {
    const each = compute({ ...state, tile: keys });
    return [
      keys,
      kilo(each.shared),
      each.fits ? each.registers : "–",
      each.at_once,
      percent(each.share),
    ];
  });
  return { caption: words.tableCaption, head: words.tableHead, rows };
}
