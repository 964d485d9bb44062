// "Put its lines in order instead": the puzzle for a reader who is stuck at a code drill.
// What shows it is fetched when a reader asks.

import { Draft } from "./draft.mjs";
import { button } from "./progress.mjs";
import { HOME, loadScript, loadStyle } from "./python.mjs";
import { today } from "./record.mjs";
import { make } from "./words.mjs";

export class PuzzleCard {
  constructor(drill) {
    this.drill = drill;
    this.draft = new Draft(drill.id, "puzzle");
    this.panel = null; // what shows the puzzle, once it is fetched
    this.state = {};
    this.start = button(drill.word("puzzle"), () => this.open());
    this.start.className = "os-puzzle-start";
    this.start.hidden = true;
    drill.form.querySelector(":scope > .os-drill-actions").append(this.start);
    document.addEventListener("os-drills-changed", () => this.refresh());
    this.refresh();
  }

  get isOpen() {
    return Boolean(this.panel?.isOpen);
  }

  /** Show the button; returns what is said about it, the first time. */
  offer() {
    if (!this.start.hidden || this.isOpen) return [];
    this.start.hidden = false;
    const offer = this.drill.word("offerPuzzle");
    return [make("p", { class: "os-drill-offer" }, offer)];
  }

  async open() {
    const panel = await this.load().catch(() => null);
    if (panel) panel.show();
    else this.drill.announce(this.drill.word("puzzleMissing"));
  }

  /** Fetch what shows the puzzle, and its style. */
  async load() {
    await loadStyle(`${HOME}puzzle.css`);
    await loadScript(`${HOME}puzzle.js`, () => globalThis.livepagePuzzle);
    return (this.panel ??= globalThis.livepagePuzzle.open(this, this.state));
  }

  // ---- what the record has of it: texts by name

  keep({ solved, ...state }) {
    const { key } = this.drill.data.puzzle;
    this.draft.edited = true;
    this.draft.keep({ key, ...state, solved: solved ? today() : "" });
  }

  /** Show what was done before, here or in another tab. */
  refresh() {
    const update = this.draft.update();
    if (!update) return;
    this.state = this.isMine(update.value) ? update.value : {};
    this.panel?.take(this.state);
    this.start.hidden = !this.state.key || this.isOpen;
    if (this.state.open && !this.isOpen) this.reopen();
  }

  /** Show the puzzle that stood here when the reader left. */
  async reopen() {
    const panel = await this.load().catch(() => null);
    if (this.state.open) panel?.reveal();
  }

  /** Whether a state is one of these lines. Once solved, a puzzle is done with that day. */
  isMine(state) {
    const { key } = this.drill.data.puzzle;
    return state?.key === key && (!state.solved || state.solved === today());
  }
}
