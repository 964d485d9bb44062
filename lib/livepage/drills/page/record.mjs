// The record of what the reader has done, as data: read, repaired, merged, written.
// An entry is {stage, done, due} and, where there is something, `code` or `words` (the
// reader's text, written `at`), `others` (texts it was about to replace), `answer`, or
// `cleared`: the reader took the text away, it was not lost. `puzzle` is how far the lines
// of a solution are put in order; `ordered` is the day on which they all were. From then
// on the drill waits to be written, and neither is there once it is `done`.
// Fields and drills that this page does not know may be a newer page's: they stay.

const VERSION = 1;
export const INTERVALS = [1, 3, 7, 21, 60]; // days until a passed drill comes back
export const TEXTS = ["code", "words"]; // neither is ever replaced by another text unasked
export const FRESH = { stage: 0, done: null, due: null };

export const isTable = (value) =>
  Object.prototype.toString.call(value) === "[object Object]";

export const alike = (one, other) => JSON.stringify(one) === JSON.stringify(other);

/**
 * A record from its text: drills by their id, when the reader last forgot them all, and
 * its fault: "newer", "unreadable", "damaged" if only a part could be read, or null.
 */
export function readRecord(text) {
  const none = { drills: new Map(), forgotten: null };
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    return { ...none, fault: "unreadable" };
  }
  const version = cleanNumber(read?.version);
  if (version > VERSION) return { ...none, fault: "newer" };
  if (version !== VERSION || !isTable(read.drills)) {
    return { ...none, fault: "unreadable" };
  }
  const entries = Object.entries(read.drills);
  const tables = entries.filter(([, raw]) => isTable(raw));
  const drills = new Map(tables.map(([id, raw]) => [id, repaired(raw)]));
  const whole = entries.every(([id, raw]) => drills.has(id) && isWhole(raw));
  const forgotten = cleanMoment(read.forgotten);
  return { drills, forgotten, fault: whole ? null : "damaged" };
}

export function writeRecord(drills, forgotten) {
  const record = { version: VERSION, drills: Object.fromEntries(drills) };
  return JSON.stringify(forgotten ? { ...record, forgotten } : record);
}

/** What each part of an entry has to be; null for what it cannot be. */
const CLEAN = {
  done: cleanDay,
  due: cleanDay,
  code: cleanText,
  words: cleanText,
  at: cleanMoment,
  answer: (value) => (isTable(value) ? cleanAnswer(value) : null),
  others: (value) => (Array.isArray(value) ? cleanOthers(value) : null),
  cleared: (value) => (value === true ? true : null),
  puzzle: (value) => (isTable(value) ? cleanAnswer(value) : null),
  ordered: cleanDay,
};

function repaired(raw) {
  const whole = Math.trunc(cleanNumber(raw.stage) ?? 0);
  const stage = Math.min(Math.max(whole, 0), INTERVALS.length);
  const entry = { ...raw, ...FRESH, stage };
  for (const [name, clean] of Object.entries(CLEAN)) {
    const value = clean(raw[name]);
    if (value !== null) entry[name] = value;
    else if (!(name in FRESH)) delete entry[name];
  }
  return entry;
}

/** Whether nothing of an entry had to be left out. */
function isWhole(raw) {
  const entry = repaired(raw);
  const parts = Object.keys(CLEAN).map((name) => [raw[name], entry[name]]);
  parts.push([raw.stage, cleanNumber(raw.stage)]);
  return parts.every(([before, after]) => alike(before ?? null, after ?? null));
}

function cleanNumber(value) {
  return typeof value === "number" ? value : null;
}

function cleanText(value) {
  return typeof value === "string" ? value : null;
}

export function cleanMoment(value) {
  return Number.isNaN(Date.parse(cleanText(value))) ? null : value;
}

/** A day that the calendar has. */
export function cleanDay(value) {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(cleanText(value))?.slice(1).map(Number);
  return parts && isoDay(parts[0], parts[1] - 1, parts[2]) === value ? value : null;
}

function cleanAnswer(value) {
  const texts = Object.entries(value).filter(([, part]) => typeof part === "string");
  return texts.length ? Object.fromEntries(texts) : null;
}

function cleanOthers(value) {
  const others = value.filter((other) => cleanText(other?.text) !== null);
  const dated = others.map((other) =>
    cleanMoment(other.at) === null ? withoutMoment(other) : other,
  );
  return others.length ? dated : null;
}

const withoutMoment = ({ at: _, ...other }) => other;

/**
 * One entry from two of the same drill. Of progress the later counts; the text written
 * later stands in the editor, and the other one is kept beside it.
 */
export function mergeEntries(mine, theirs) {
  if (!mine || !theirs) return mine ?? theirs;
  const [late, early] =
    writtenAt(theirs) > writtenAt(mine) ? [theirs, mine] : [mine, theirs];
  const { stage, done, due, ordered } = laterRecord(theirs, mine) ? theirs : mine;
  const merged = { ...early, ...late, stage, done, due, ordered };
  if (!ordered) delete merged.ordered;
  const lost = TEXTS.filter((name) => name in early && early[name] !== merged[name]);
  return withOthers(merged, [
    ...lost.map((name) => ({ text: early[name], at: early.at })),
    ...(late.others ?? []),
    ...(early.others ?? []),
  ]);
}

const writtenAt = ({ at }) => (at ? Date.parse(at) : -Infinity);

/** Whether two entries hold two texts. */
export function differ(one, other) {
  const texts = TEXTS.map((name) => [one?.[name], other?.[name]]);
  return texts.some(([a, b]) => a !== undefined && b !== undefined && a !== b);
}

/** An entry with other texts beside its own: each once, and none that is its own. */
export function withOthers({ others: _, ...entry }, others) {
  const seen = new Set(TEXTS.map((name) => entry[name]));
  const left = others.filter(({ text }) => !seen.has(text) && seen.add(text));
  return left.length ? { ...entry, others: left } : entry;
}

/** Whether an entry says no more than that there is none. */
export function isEmpty({ at: _, ...entry }) {
  return alike({ ...FRESH, ...entry }, FRESH);
}

/** Whether one record was made after another; on the same day the further one wins. */
function laterRecord(one, other) {
  const [a, b] = [one, other].map(({ done, ordered = "" }) =>
    [done ?? "", ordered].sort().at(-1),
  );
  return a > b || (a === b && one.stage >= other.stage);
}

/**
 * Keep a text or an answer. Where the record has a text that the page did not know when
 * this one was typed, that text stays too.
 */
export function written(entry, name, value, lastKnown) {
  const { [name]: before, others = [], cleared: _, ...rest } = entry;
  if (alike(before, value)) return entry;
  const taken = others.some(({ text }) => text === value); // it trades places
  const isText = TEXTS.includes(name);
  const stays = isText && before !== undefined && (taken || before !== lastKnown);
  const gone = isText ? { cleared: true } : {};
  const now = { ...rest, ...(value === undefined ? gone : { [name]: value }) };
  const beside = stays ? [{ text: before, at: entry.at }, ...others] : others;
  return withOthers({ ...now, at: new Date().toISOString() }, beside);
}

/** When a drill is due. A day beyond every interval was set by a wrong clock. */
export function dueDay({ due }) {
  const last = daysFrom(today(), INTERVALS.at(-1));
  return due && due > last ? today() : due;
}

/** A drill that came back since it was answered wants a new answer, not the old one. */
export function isStale(entry) {
  const due = dueDay(entry);
  const written = entry.at && dayOf(new Date(entry.at));
  return Boolean(due && due <= today() && written && written < due);
}

/** The reader's date, as 2025-01-31. */
export function today() {
  return dayOf(new Date());
}

function dayOf(date) {
  return isoDay(date.getFullYear(), date.getMonth(), date.getDate());
}

export function daysFrom(day, days) {
  const [year, month, date] = day.split("-").map(Number);
  return isoDay(year, month - 1, date + days);
}

function isoDay(year, month, date) {
  const day = new Date(Date.UTC(year, month, date));
  return Number.isNaN(day.getTime()) ? null : day.toISOString().slice(0, 10);
}
