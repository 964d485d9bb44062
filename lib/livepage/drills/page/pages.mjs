// Which pages the reader has read, kept in this browser beside the record of the drills:
// page → {read: day} or, on the way there, {seen: sections whose end was in view}, and the
// moment `at` which the reader came furthest there.

import { cleanDay, cleanMoment, isTable, today } from "./record.mjs";

const PAGES_KEY = "book-pages";

export const pages = {
  unkept: {}, // page → entry: what the browser has not taken yet

  get isKept() {
    return Object.keys(this.unkept).length === 0;
  },

  all() {
    return { ...cleanPages(stored()), ...this.unkept };
  },

  get(page) {
    const all = this.all();
    return Object.hasOwn(all, page) ? all[page] : {};
  },

  isRead(page) {
    return Boolean(this.get(page).read);
  },

  put(page, entry) {
    this.write({ [page]: { ...entry, at: new Date().toISOString() } });
  },

  /** Of the sections there are, some more were seen; the page is read after the last. */
  see(page, anchors, sections) {
    const seen = [...new Set([...(this.get(page).seen ?? []), ...anchors])];
    const left = sections.filter((anchor) => !seen.includes(anchor));
    this.put(page, left.length ? { seen } : { read: today() });
  },

  /** Hand over to the browser what changes, and what it did not take before. */
  write(changes = {}) {
    this.unkept = { ...this.unkept, ...changes };
    if (this.isKept) return;
    try {
      localStorage.getItem(PAGES_KEY); // what cannot be read is not written over
      localStorage.setItem(PAGES_KEY, JSON.stringify(this.all()));
      this.unkept = {};
    } catch {
      // it goes on waiting
    }
  },

  forget() {
    this.unkept = {};
    try {
      localStorage.removeItem(PAGES_KEY);
    } catch {
      this.unkept = Object.fromEntries(
        Object.keys(this.all()).map((page) => [page, {}]),
      );
    }
  },

  /** Take over what a file says was read, there or here; how many pages it says so of. */
  merge(raw) {
    const theirs = cleanPages(raw);
    const merged = Object.entries(theirs).map(([page, { read, seen = [], at }]) => {
      const mine = this.get(page);
      const days = [mine.read, read].filter(Boolean).sort();
      const both = [...new Set([...(mine.seen ?? []), ...seen])];
      const entry = days.length ? { read: days[0] } : { seen: both };
      return [page, dated(entry, [mine.at, at].filter(Boolean).sort().at(-1))];
    });
    this.write(Object.fromEntries(merged));
    return Object.values(theirs).filter(({ read }) => read).length;
  },
};

/** What the browser has; a text that is no record counts for nothing. */
function stored() {
  try {
    return JSON.parse(localStorage.getItem(PAGES_KEY));
  } catch {
    return null;
  }
}

function cleanPages(raw) {
  const tables = Object.entries(isTable(raw) ? raw : {}).filter(([, one]) =>
    isTable(one),
  );
  return Object.fromEntries(tables.map(([page, one]) => [page, cleanPage(one)]));
}

function cleanPage({ read, seen, at }) {
  if (cleanDay(read)) return dated({ read }, cleanMoment(at));
  const texts = (Array.isArray(seen) ? seen : []).filter((s) => typeof s === "string");
  return dated({ seen: texts }, cleanMoment(at));
}

const dated = (entry, at) => (at ? { ...entry, at } : entry);
