// One text or answer that the reader works on: what stands on the page, and what the
// record has of it. Other tabs may work on the same drill.

import { TEXTS, alike, isStale } from "./record.mjs";
import { store } from "./store.mjs";

export class Draft {
  /** `name` is its place in the entry of the drill: "code", "words" or "answer". */
  constructor(id, name) {
    this.id = id;
    this.name = name;
    this.edited = false; // here, since it was last kept
    this.ground = undefined; // what was last kept or shown; undefined for nothing
    this.forgotten = store.forgotten;
  }

  /** What the record has to show here; of a drill that is due again, only code. */
  recorded() {
    const entry = store.get(this.id);
    return this.name !== "code" && isStale(entry) ? undefined : entry[this.name];
  }

  /** Keep what stands on the page, if it was edited here. */
  keep(value) {
    if (!this.edited) return;
    this.edited = false;
    const { ground } = this;
    if (alike(value, ground)) return;
    this.ground = value;
    store.keep(this.id, this.name, value, ground);
  }

  /** Whether the reader took this text away in another tab. */
  get cleared() {
    const entry = store.get(this.id);
    return Boolean(entry.cleared) && TEXTS.includes(this.name) && !(this.name in entry);
  }

  /**
   * After `keep`: what the page should show from now on, {value}, or null. A text that
   * was `cleared` elsewhere is kept beside what is shown.
   */
  news() {
    const { ground, cleared } = this;
    const value = this.recorded();
    const wish = store.forgotten !== null && store.forgotten !== this.forgotten;
    this.forgotten = store.forgotten ?? this.forgotten;
    if (alike(value, ground) || (value === undefined && !wish && !cleared)) return null;
    this.ground = value;
    if (cleared) store.putBeside(this.id, ground);
    return { value, cleared };
  }
}
