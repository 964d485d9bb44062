// One text or answer that the reader works on: what stands on the page, and what the
// record has of it. Other tabs may work on the same drill.

class Draft {
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

  /** After `keep`: what the page should show from now on, {value}, or null. */
  news() {
    const value = this.recorded();
    const wish = store.forgotten !== null && store.forgotten !== this.forgotten;
    this.forgotten = store.forgotten ?? this.forgotten;
    if (alike(value, this.ground) || (value === undefined && !wish)) return null;
    this.ground = value;
    return { value };
  }
}
