// The lines of a puzzle and where they stand. This module does not touch the page.
//
// A row of the program is a number: a fixed line is below zero (-1 is the first), a piece
// is its number in the solution, and the wrong lines are numbered after the pieces. A
// piece that was joined to another goes by the number of the first.

const FIXED = "-";
const DIGITS = /^\d+$/;

export class Lines {
  constructor(puzzle) {
    this.puzzle = puzzle;
    this.texts = [...puzzle.pieces.map(([text]) => text), ...puzzle.wrong];
    this.fresh();
  }

  fresh() {
    this.parts = new Map(this.texts.map((_, row) => [row, [row]])); // row → its pieces
    this.program = this.puzzle.fixed.map((_, i) => -1 - i);
    this.joined = 0;
    this.last = null; // the row that was placed last
  }

  isWrong = (row) => row >= this.puzzle.pieces.length;

  isPlaced = (row) => this.program.includes(row);

  text = (row) =>
    row < 0
      ? this.puzzle.fixed[-1 - row]
      : this.parts
          .get(row)
          .map((part) => this.texts[part])
          .join("\n");

  /** The rows outside the program: each piece beside the wrong lines made from it. */
  get pool() {
    const isThere = (row) => this.parts.has(row) && !this.isPlaced(row);
    return this.puzzle.pool.map((unit) => unit.filter(isThere));
  }

  /** Whether a place in the pool is one of lines of which one is right. */
  isChoice(unit) {
    return this.puzzle.pool[unit].filter((row) => this.parts.has(row)).length > 1;
  }

  /** The line in the program that this one would replace: of the two, one is right. */
  rival(row) {
    const unit = this.puzzle.pool.find((rows) => rows.includes(row));
    return unit.find((each) => each !== row && this.isPlaced(each));
  }

  get placed() {
    return this.program.filter((row) => row >= 0);
  }

  /** How many lines the program has too few, by their number alone. */
  get lacking() {
    const count = (rows) => rows.flatMap((row) => this.parts.get(row)).length;
    return this.puzzle.pieces.length - count(this.placed);
  }

  read() {
    return `${this.program.map(this.text).join("\n")}\n`;
  }

  // ---- moving

  /** Where a row from the pool goes: behind the one placed last, or to the first gap. */
  get entry() {
    const at = this.program.indexOf(this.last);
    if (this.last !== null && at >= 0) return at + 1;
    const [[, before]] = this.puzzle.pieces;
    return before === 0 ? 0 : this.program.indexOf(-before) + 1;
  }

  /** Put a row into the program. A line of which it is the other choice goes out. */
  place(row, index) {
    const rival = this.rival(row);
    this.takeOut(row);
    this.program.splice(index, 0, row);
    this.takeOut(rival);
    this.last = row;
  }

  takeOut(row) {
    this.program = this.program.filter((each) => each !== row);
  }

  takeAllOut() {
    for (const row of this.placed) this.takeOut(row);
    this.last = null;
  }

  /** Move a row one line up or down. Below the end of the program is the pool. */
  step(row, by) {
    const at = this.program.indexOf(row);
    if (at < 0 && by > 0) return false;
    if (at === 0 && by < 0) return false;
    if (at < 0) this.place(row, this.entry);
    else if (at + by < this.program.length) this.place(row, at + by);
    else this.takeOut(row);
    return true;
  }

  // ---- making it easier

  get wrong() {
    return [...this.parts.keys()].filter(this.isWrong);
  }

  get canBeEasier() {
    return this.wrong.length > 0 || this.joined < this.puzzle.joins.length;
  }

  /** Take a wrong line away, rather one that was used; if there is none, join two pieces. */
  ease() {
    const [row] = [...this.wrong.filter(this.isPlaced), ...this.wrong];
    if (row !== undefined) {
      const gone = this.text(row);
      this.takeAway(row);
      return { gone };
    }
    const pair = this.puzzle.joins[this.joined];
    const joined = pair.map(this.text);
    this.join();
    return { joined };
  }

  takeAway(row) {
    this.takeOut(row);
    this.parts.delete(row);
  }

  /** Join the next two pieces, where the first of them stands in the program. */
  join() {
    const [first, second] = this.puzzle.joins[this.joined];
    if (!this.isPlaced(first) && this.isPlaced(second)) {
      this.place(first, this.program.indexOf(second));
    }
    this.takeOut(second);
    this.parts.get(first).push(...this.parts.get(second));
    this.parts.delete(second);
    this.joined += 1;
  }

  // ---- what the record has of it, as texts

  write() {
    const order = this.program.map((row) => (row < 0 ? FIXED : row)).join(" ");
    return { order, wrong: this.wrong.join(" "), joined: String(this.joined) };
  }

  /** Take over a record; an order that is not one of these lines is left out. */
  restore({ order = "", wrong, joined = "" }) {
    this.fresh();
    const left = numbers(wrong ?? this.wrong.join(" "));
    for (const row of this.wrong) if (!left.includes(row)) this.takeAway(row);
    const count = Math.min(Number(joined) || 0, this.puzzle.joins.length);
    if (this.wrong.length === 0) while (this.joined < count) this.join();
    let fixed = 0;
    const rows = order
      .split(" ")
      .map((each) =>
        each === FIXED ? --fixed : DIGITS.test(each) ? Number(each) : NaN,
      );
    const known = rows.every((row) => row < 0 || this.parts.has(row));
    const each = new Set(rows).size === rows.length;
    if (!known || !each || -fixed !== this.puzzle.fixed.length) return;
    this.program = rows;
    for (const row of this.placed)
      if (this.isPlaced(row)) this.takeOut(this.rival(row));
  }
}

const numbers = (text) => text.split(" ").filter(Boolean).map(Number);
