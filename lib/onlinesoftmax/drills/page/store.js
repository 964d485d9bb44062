// What the reader has done, kept in this browser only. Where the browser keeps nothing
// (some do not on file://, and a full one does not), it lasts until the page is left.

const STORE_KEY = "onlinesoftmax-drills";
const INTERVALS = [1, 3, 7, 21, 60]; // days until a passed drill comes back

const store = {
  kept: true,
  memory: {},

  /** Every drill the reader has met: id → {stage, done, due, code}. */
  all() {
    if (!this.kept) return this.memory;
    try {
      const text = localStorage.getItem(STORE_KEY);
      this.memory = text ? readStore(text) : {};
    } catch {
      this.kept = false;
    }
    return this.memory;
  },

  get(id) {
    return this.all()[id] ?? { stage: 0, done: null, due: null };
  },

  set(id, entry) {
    this.replace({ ...this.all(), [id]: entry });
  },

  replace(drills) {
    this.memory = drills;
    try {
      localStorage.setItem(STORE_KEY, JSON.stringify({ version: 1, drills }));
      this.kept = true;
    } catch {
      this.kept = false;
    }
    document.dispatchEvent(new Event("os-drills-changed"));
  },

  /** A pass moves a due drill one interval on; a pass with misses starts over. */
  pass(id, misses) {
    const entry = this.get(id);
    const early = entry.done && entry.due > today();
    if (early && misses === 0) return;
    const stage = misses > 0 ? 1 : Math.min(entry.stage + 1, INTERVALS.length);
    const due = daysFrom(today(), INTERVALS[stage - 1]);
    this.set(id, { ...entry, stage, done: today(), due });
  },

  /** A drill whose solution was shown comes back tomorrow. */
  shown(id) {
    const due = daysFrom(today(), INTERVALS[0]);
    this.set(id, { ...this.get(id), stage: 0, due });
  },

  /** Keep what the reader wrote; who wrote nothing gets the newest starter. */
  keepCode(id, code, starter) {
    const { code: kept, ...entry } = this.get(id);
    const own = code.trimEnd() === starter.trimEnd() ? undefined : code;
    if (kept !== own) this.set(id, own === undefined ? entry : { ...entry, code: own });
  },

  due() {
    const entries = Object.entries(this.all());
    return entries.filter(([, entry]) => entry.due && entry.due <= today())
      .sort(([, a], [, b]) => a.due.localeCompare(b.due)).map(([id]) => id);
  },

  done() {
    return Object.entries(this.all()).filter(([, e]) => e.done).map(([id]) => id);
  },

  export() {
    return JSON.stringify({ version: 1, drills: this.all() }, null, 2);
  },

  /** Take over a saved file; of two records of a drill the later one stays. */
  import(text) {
    const loaded = readStore(text);
    const merged = { ...this.all() };
    for (const [id, entry] of Object.entries(loaded)) {
      const kept = merged[id] ?? {};
      const newer = laterRecord(entry, kept) ? [kept, entry] : [entry, kept];
      merged[id] = Object.assign({}, ...newer); // code is lost in neither case
    }
    this.replace(merged);
    return Object.keys(loaded).length;
  },
};

/** Whether one record was made after another; on the same day the further one wins. */
function laterRecord(one, other) {
  const [a, b] = [one, other].map(({ done }) => done ?? "");
  return a > b || (a === b && one.stage >= (other.stage ?? 0));
}

/** The drills in a stored text; throws if it is not one of ours. */
function readStore(text) {
  const { version, drills } = JSON.parse(text);
  if (version !== 1 || Object.prototype.toString.call(drills) !== "[object Object]") {
    throw new Error("not a record of this book's drills");
  }
  const day = (value) => (/^\d{4}-\d\d-\d\d$/.test(value) ? value : null);
  const clean = ([id, entry]) => {
    const stage = Math.min(Math.max(Math.trunc(entry.stage) || 0, 0), INTERVALS.length);
    const code = typeof entry.code === "string" ? { code: entry.code } : {};
    return [id, { stage, done: day(entry.done), due: day(entry.due), ...code }];
  };
  return Object.fromEntries(Object.entries(drills).map(clean));
}

// Another tab, the way back to this page, or midnight may have changed what is due.
function followChanges() {
  const changed = () => document.dispatchEvent(new Event("os-drills-changed"));
  for (const moment of ["storage", "pageshow", "visibilitychange"]) {
    addEventListener(moment, changed);
  }
}

/** The reader's date, as 2025-01-31. */
function today() {
  const now = new Date();
  return isoDay(now.getFullYear(), now.getMonth(), now.getDate());
}

function daysFrom(day, days) {
  const [year, month, date] = day.split("-").map(Number);
  return isoDay(year, month - 1, date + days);
}

function isoDay(year, month, date) {
  return new Date(Date.UTC(year, month, date)).toISOString().slice(0, 10);
}
