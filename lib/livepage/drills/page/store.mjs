// Where the record is kept: this browser, and nowhere else. Other tabs write to it too,
// so each change starts from what is there now. What the browser does not take (some
// keep nothing on file://, and a full one has no room) waits here and is tried again.

import { pages } from "./pages.mjs";
import {
  FRESH,
  INTERVALS,
  alike,
  daysFrom,
  differ,
  dueDay,
  isEmpty,
  mergeEntries,
  readRecord,
  today,
  withOthers,
  writeRecord,
  written,
} from "./record.mjs";

const STORE_KEY = "book-drills";
const ASIDE = `${STORE_KEY}-aside-`; // followed by a number: records that could not be read
const EMPTY = writeRecord([]);

export const store = {
  waiting: new Map(), // id → {before, after}: what the browser has not taken yet
  readable: true,
  text: null, // as it was last read
  record: readRecord(EMPTY),
  lost: new Map(), // drills of records that vanished from the browser, not forgotten
  lastForgotten: null, // the moment, if it was in this tab

  get kept() {
    return this.readable && this.waiting.size === 0 && pages.isKept;
  },

  /** When the reader last forgot all, in any tab. A record may also just be lost. */
  get forgotten() {
    const moments = [this.stored().forgotten, this.lastForgotten];
    return moments.filter(Boolean).sort().at(-1) ?? null;
  },

  /**
   * The record in the browser; it is read again if its text is another one. Where it
   * cannot be read any more, the record as it was last read.
   */
  stored() {
    let text;
    try {
      text = localStorage.getItem(STORE_KEY);
      this.readable = true;
    } catch {
      this.readable = false;
      return this.record;
    }
    if (text === null) this.lost = mergeAll(this.lost, this.record.drills);
    if (text !== this.text) this.take(readRecord(text ?? EMPTY));
    this.text = text;
    return this.record;
  },

  take(record) {
    const { forgotten } = record;
    if (forgotten && forgotten !== this.record.forgotten) this.lost = new Map();
    this.record = record;
  },

  /** Every drill the reader has met: id → entry, what still waits included. */
  all() {
    const stored = this.stored().drills;
    if (this.waiting.size === 0) return stored;
    const drills = new Map(stored);
    for (const [id, { before, after }] of this.waiting) {
      const now = drills.get(id);
      const entry = alike(now, before) ? after : mergeEntries(after, now);
      if (entry) drills.set(id, entry);
      else drills.delete(id);
    }
    return drills;
  },

  get(id, drills = this.all()) {
    const entry = drills.get(id) ?? FRESH;
    return { ...entry, due: dueDay(entry) };
  },

  /** Change one drill's entry; `change` gets the old one and gives the new one. */
  change(id, change) {
    this.put(id, change(this.all().get(id) ?? FRESH));
    this.save();
  },

  put(id, entry) {
    const before = this.stored().drills.get(id);
    this.waiting.set(id, { before, after: isEmpty(entry) ? undefined : entry });
  },

  /** Keep a text or an answer. The rest of the page shows neither, so no event is sent. */
  keep(id, name, value, lastKnown) {
    const { kept } = this;
    this.put(id, written(this.all().get(id) ?? FRESH, name, value, lastKnown));
    this.write();
    if (kept !== this.kept) tellOfChanges();
  },

  /** Hand over to the browser what waits, and tell the page. */
  save() {
    this.write();
    tellOfChanges();
  },

  write() {
    try {
      this.setAside();
      if (!this.readable) return; // what stands there would be overwritten unseen
      localStorage.setItem(STORE_KEY, writeRecord(this.all(), this.forgotten));
      this.waiting.clear();
      this.stored(); // so that it is known, should it vanish
    } catch {
      // what waits goes on waiting
    }
  },

  /**
   * A pass moves a due drill one interval on; a pass with misses starts over. A second pass
   * on the same day changes nothing: wrong answers after the first were tried on purpose.
   */
  pass(id, misses) {
    const { done, due, ordered, stage: before } = this.get(id);
    const early = done && !ordered && due > today();
    if (early && (misses === 0 || this.isDoneToday(id))) return;
    const stage = misses > 0 ? 1 : Math.min(before + 1, INTERVALS.length);
    const next = daysFrom(today(), INTERVALS[stage - 1]);
    this.change(id, ({ ordered: _, puzzle: __, ...entry }) => ({
      ...entry,
      stage,
      done: today(),
      due: next,
    }));
  },

  /** Whether a drill was passed today, and its solution not shown since. */
  isDoneToday(id) {
    const { done, stage } = this.get(id);
    return done === today() && stage > 0;
  },

  /** A drill whose solution was shown comes back tomorrow. */
  shown(id) {
    const due = daysFrom(today(), INTERVALS[0]);
    this.change(id, (entry) => ({ ...entry, stage: 0, due }));
  },

  /**
   * A drill whose lines were put in order comes back tomorrow, to be written, unless it was
   * written today.
   */
  ordered(id) {
    if (this.isDoneToday(id)) return;
    this.shown(id);
    this.change(id, (entry) => ({ ...entry, ordered: today() }));
  },

  /** Keep a text beside the reader's own. */
  putBeside(id, text) {
    const other = { text, at: new Date().toISOString() };
    this.change(id, (entry) => withOthers(entry, [other, ...(entry.others ?? [])]));
  },

  /** Delete a text that was kept beside the reader's own. */
  discard(id, text) {
    this.change(id, (entry) =>
      withOthers(
        entry,
        entry.others.filter((other) => other.text !== text),
      ),
    );
  },

  due() {
    const due = [...this.all()].map(([id, entry]) => [id, dueDay(entry)]);
    return due
      .filter(([, day]) => day && day <= today())
      .sort(([, a], [, b]) => a.localeCompare(b))
      .map(([id]) => id);
  },

  done() {
    return [...this.all()].filter(([, { done }]) => done).map(([id]) => id);
  },

  /** All that a file takes along: the record, and which pages were read. */
  export() {
    const record = JSON.parse(writeRecord(mergeAll(this.all(), this.lost)));
    return JSON.stringify({ ...record, pages: pages.all() }, null, 2);
  },

  /**
   * Take over a saved file: how many drills it held, and pages that were read, for how
   * many drills a text is now kept beside another one, and what was wrong. Without room,
   * nothing is taken over.
   */
  import(text) {
    const { drills, fault } = readRecord(text);
    const earlier = new Map(this.waiting);
    const mine = this.all();
    for (const [id, entry] of drills) this.put(id, mergeEntries(mine.get(id), entry));
    if (drills.size) this.write();
    const full = this.readable && this.waiting.size > 0;
    if (full) this.waiting = earlier;
    const isRecord = !full && (fault === null || fault === "damaged");
    const read = isRecord ? pages.merge(JSON.parse(text).pages) : 0;
    tellOfChanges();
    if (full) return { count: 0, read, both: 0, fault: "full" };
    const both = [...drills].filter(([id, entry]) => differ(mine.get(id), entry));
    return { count: drills.size, read, both: both.length, fault };
  },

  get isEmpty() {
    const read = Object.keys(pages.all()).length;
    return this.all().size + this.asides().length + read === 0;
  },

  /** Forget everything; gives what brings it back. */
  forget() {
    const drills = this.all();
    const asides = this.asides();
    const read = pages.all();
    this.waiting.clear();
    pages.forget();
    this.lastForgotten = new Date().toISOString();
    try {
      for (const { key } of asides) localStorage.removeItem(key);
    } catch {
      // what the browser does not remove is not shown, as long as the page is open
    }
    for (const id of this.stored().drills.keys()) this.put(id, FRESH);
    this.lost = new Map();
    this.save();
    return () => this.bringBack(drills, asides, read);
  },

  bringBack(drills, asides, read) {
    const now = this.all();
    pages.merge(read);
    for (const [id, entry] of drills) this.put(id, mergeEntries(entry, now.get(id)));
    try {
      for (const { text } of asides) keepAside(text);
    } catch {
      // another tab may have filled the room since
    }
    this.save();
  },

  // ---- records that cannot be read, or only in part

  /** Each with its key, its text and its fault; the record in use, too, if it is faulty. */
  asides() {
    try {
      const keys = [STORE_KEY, ...asideKeys()];
      const found = keys
        .map((key) => ({ key, text: localStorage.getItem(key) }))
        .filter(({ text }) => text !== null);
      const faulty = found.map((one) => ({ ...one, ...readRecord(one.text) }));
      return faulty.filter(({ key, fault }) => key !== STORE_KEY || fault);
    } catch {
      return [];
    }
  },

  /** Copy a faulty record to another key before it is written over. */
  setAside() {
    if (this.stored().fault && this.text !== null) keepAside(this.text);
  },

  /** Delete such a record, under any key; what can be read of the one in use stays. */
  drop(text) {
    try {
      for (const { key, fault, ...aside } of this.asides()) {
        if (aside.text !== text) continue;
        if (key !== STORE_KEY || fault !== "damaged") localStorage.removeItem(key);
        else localStorage.setItem(key, writeRecord(aside.drills, aside.forgotten));
      }
    } catch {
      // then its note stays as well
    }
    this.retry();
  },

  /** What the browser did not take before, it may take now. */
  retry() {
    pages.write();
    if (this.waiting.size) this.save();
    else tellOfChanges();
  },
};

/** All drills of two records. */
function mergeAll(mine, theirs) {
  const merged = new Map(mine);
  for (const [id, entry] of theirs) merged.set(id, mergeEntries(mine.get(id), entry));
  return merged;
}

function asideKeys() {
  return Object.keys(localStorage)
    .filter((key) => key.startsWith(ASIDE))
    .sort();
}

function keepAside(text) {
  const keys = asideKeys();
  if (keys.some((key) => localStorage.getItem(key) === text)) return;
  let n = 1;
  while (keys.includes(ASIDE + n)) n += 1;
  localStorage.setItem(ASIDE + n, text);
}

export function tellOfChanges() {
  document.dispatchEvent(new Event("os-drills-changed"));
}

/** Look again whenever the page is shown or left, or another tab has changed the record. */
export function followChanges() {
  for (const moment of ["storage", "pageshow", "pagehide", "visibilitychange"]) {
    addEventListener(moment, () => store.retry());
  }
}
