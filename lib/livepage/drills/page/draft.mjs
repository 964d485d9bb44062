// One text or answer that the reader works on: what stands on the page, and what the
// record has of it. Other tabs may work on the same drill.

import { TEXTS, alike, isStale } from "./record.mjs";
import { store } from "./store.mjs";

export class Draft {
  /** `name` is its key in the record of the drill: "code", "words" or "answer". */
  constructor(id, name) {
    this.id = id;
    this.name = name;
    this.edited = false; // on this page, since it was last kept
    this.lastKnown = undefined; // what was last kept or shown; undefined for nothing
    this.forgotten = store.forgotten;
  }

  /** What the record has. Of a drill that is due again it is not shown, but for code. */
  recorded() {
    const entry = store.get(this.id);
    return this.name !== "code" && isStale(entry) ? undefined : entry[this.name];
  }

  /** Keep what stands on the page, if it was edited here. */
  keep(value) {
    if (!this.edited) return;
    this.edited = false;
    const { lastKnown } = this;
    if (alike(value, lastKnown)) return;
    this.lastKnown = value;
    store.keep(this.id, this.name, value, lastKnown);
  }

  /** Whether the reader took this text away in another tab. */
  get cleared() {
    const entry = store.get(this.id);
    return Boolean(entry.cleared) && TEXTS.includes(this.name) && !(this.name in entry);
  }

  /**
   * What the page should show from now on, as {value}, or null if nothing changed. To be
   * called after `keep`. Where the text was taken away in another tab, the text that
   * stood here is kept beside what is shown.
   */
  update() {
    const { lastKnown, cleared } = this;
    const value = this.recorded();
    const wish = store.forgotten !== null && store.forgotten !== this.forgotten;
    this.forgotten = store.forgotten ?? this.forgotten;
    if (alike(value, lastKnown) || (value === undefined && !wish && !cleared))
      return null;
    this.lastKnown = value;
    if (cleared) store.putBeside(this.id, lastKnown);
    return { value, cleared };
  }
}
