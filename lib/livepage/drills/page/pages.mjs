// Which pages the reader has read, kept in this browser beside the record of the drills:
// page → {read: day} or, on the way there, {seen: sections whose end was in view}.

import { cleanDay, isTable, today } from "./record.mjs";

const PAGES_KEY = "book-pages";

export const pages = {
  unkept: null, // what the browser does not take holds until this page is left

  all() {
    if (this.unkept) return this.unkept;
    try {
      return cleanPages(JSON.parse(localStorage.getItem(PAGES_KEY)));
    } catch {
      return {};
    }
  },

  get(page) {
    const all = this.all();
    return Object.hasOwn(all, page) ? all[page] : {};
  },

  isRead(page) {
    return Boolean(this.get(page).read);
  },

  put(page, entry) {
    this.write({ ...this.all(), [page]: entry });
  },

  /** Of the sections there are, some more were seen; the page is read after the last. */
  see(page, anchors, sections) {
    const seen = [...new Set([...(this.get(page).seen ?? []), ...anchors])];
    const left = sections.filter((anchor) => !seen.includes(anchor));
    this.put(page, left.length ? { seen } : { read: today() });
  },

  write(all) {
    try {
      if (Object.keys(all).length === 0) localStorage.removeItem(PAGES_KEY);
      else localStorage.setItem(PAGES_KEY, JSON.stringify(all));
      this.unkept = null;
    } catch {
      this.unkept = all;
    }
  },

  /** Take over what a file says was read, there or here; how many pages it says so of. */
  merge(raw) {
    const [merged, theirs] = [{ ...this.all() }, cleanPages(raw)];
    for (const [page, { read, seen = [] }] of Object.entries(theirs)) {
      const mine = this.get(page);
      const days = [mine.read, read].filter(Boolean).sort();
      const both = [...new Set([...(mine.seen ?? []), ...seen])];
      merged[page] = days.length ? { read: days[0] } : { seen: both };
    }
    this.write(merged);
    return Object.values(theirs).filter(({ read }) => read).length;
  },
};

function cleanPages(raw) {
  const tables = Object.entries(isTable(raw) ? raw : {}).filter(([, one]) =>
    isTable(one),
  );
  return Object.fromEntries(tables.map(([page, one]) => [page, cleanPage(one)]));
}

function cleanPage({ read, seen }) {
  if (cleanDay(read)) return { read };
  const texts = Array.isArray(seen) ? seen : [];
  return { seen: texts.filter((text) => typeof text === "string") };
}
