// Marking an answer: the twin of grade.py, outcome for outcome. No words, no page.

const number = (value) =>
  typeof value === "number"
    ? value
    : { inf: Infinity, "-inf": -Infinity, nan: NaN }[value];

function close(value, target, rel, abs) {
  const goal = number(target);
  if (!Number.isFinite(goal) || !Number.isFinite(value)) return Object.is(value, goal);
  return Math.abs(value - goal) <= Math.max(rel * Math.abs(goal), abs);
}

/** The place of the first element that holds, or null. */
function firstWhere(list, holds) {
  const place = list.findIndex(holds);
  return place < 0 ? null : place;
}

const GRADERS = {
  numeric(payload, answer) {
    let read;
    try {
      read = payload.samples.map((at) => evaluate(answer, at));
    } catch {
      return { passed: false, unreadable: true };
    }
    const hits = (targets) =>
      read.every((value, i) => close(value, targets[i], payload.rel, payload.abs));
    if (hits(payload.values)) return { passed: true, read };
    const hint = firstWhere(payload.wrong, hits);
    const comma = hint === null && /^\s*\d{1,3},\d{3}\s*$/.test(answer);
    return { passed: false, read, hint, comma };
  },

  choice(payload, answer) {
    const picked = letterPlace(answer);
    if (picked === null || !(picked >= 0 && picked < payload.count)) {
      return { passed: false, unreadable: true };
    }
    return { passed: picked === payload.right, read: picked, hint: picked };
  },

  order(payload, answer) {
    const picked = [...answer].filter((part) => part !== " ").map(letterPlace);
    const { shown } = payload;
    const all = new Set(picked);
    if (picked.length !== shown.length || !shown.every((_, i) => all.has(i))) {
      return { passed: false, unreadable: true };
    }
    const places = picked.map((p) => shown[p]);
    const place = firstWhere(places, (right, i) => right !== i);
    if (place === null) return { passed: true, read: picked };
    const hint = firstWhere(
      payload.wrong,
      ([first, then]) => places.indexOf(first) < places.indexOf(then),
    );
    return { passed: false, read: picked, place, hint };
  },

  recall(payload, answer) {
    if (!payload.points) return GRADERS.numeric(payload, answer);
    const points = payload.points.map((phrases) => mentions(answer, phrases));
    const hint = firstWhere(payload.wrong, (phrases) => claims(answer, phrases));
    return { passed: points.every(Boolean) && hint === null, points, hint };
  },

  trace(payload, answer) {
    const read = [];
    for (const [i, expected] of payload.rows.entries()) {
      read.push(expected.map(() => null));
      for (const [j, target] of expected.entries()) {
        try {
          read[i][j] = evaluate(answer[i][j]);
        } catch {
          return { passed: false, unreadable: true, read, place: [i, j] };
        }
        const matches = (goal) => close(read[i][j], goal, payload.rel, payload.abs);
        if (matches(target)) continue;
        const slip = payload.wrong[i][j].find(([value]) => matches(value));
        return { passed: false, read, place: [i, j], hint: slip ? slip[1] : null };
      }
    }
    return { passed: true, read };
  },
};

/** 0 for "a" or "A", 1 for "b" …; a number stays as it is. */
function letterPlace(answer) {
  if (typeof answer === "number") return Math.trunc(answer);
  const text = String(answer).trim().toLowerCase();
  return /^[a-z]$/.test(text) ? text.charCodeAt(0) - 97 : null;
}

const mentions = (answer, phrases) => before(answer, phrases).length > 0;

/** Whether a text holds a phrase without a denial among the four words before. */
const claims = (answer, phrases) =>
  before(answer, phrases).some((words) => !words.slice(-4).some((w) => DENIALS.has(w)));

const DENIALS = new Set([
  "no", "not", "t", "never", "without", "neither", "nor", "cannot", "nunca", "sin", "ni",
]);

/** Wherever a text holds one of the phrases: the words before it. */
function before(answer, phrases) {
  const text = ` ${letters(answer)} `;
  return phrases.map(letters).flatMap((phrase) => {
    const parts = text.split(phrase.length > 3 ? ` ${phrase}` : ` ${phrase} `);
    const wanted = text.length - parts.join("").length;
    const size = parts.length > 1 ? wanted / (parts.length - 1) : 0;
    let at = 0;
    return parts.slice(0, -1).map((part) => {
      at += part.length;
      const words = text.slice(0, at).split(" ").filter(Boolean);
      at += size;
      return words;
    });
  });
}

function letters(text) {
  const base = text.toLowerCase().normalize("NFD").replace(/\p{Mn}/gu, "");
  return base.replace(/[^a-z0-9ℓα]+/g, " ").trim();
}
