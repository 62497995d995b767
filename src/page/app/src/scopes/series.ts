// Samples of one signal: time and values by column, with minima and maxima of blocks of rows, so
// that a million points are drawn by looking at a few thousand numbers.

/** Rows of one block of minima and maxima. */
const BLOCK = 64;
/** Most rows that are kept; beyond, the older half is thinned without losing its extremes. */
export const MOST_ROWS = 1 << 20;
/** Most numbers that are kept. */
const MOST_NUMBERS = 1 << 21;

export class Series {
  rows = 0;
  /** Whether older rows, or rows from the server, are extremes of several. */
  thinned = false;
  /** Counts changes. */
  version = 0;
  t = new Float64Array(1024);
  columns: Float64Array[];
  private least: Float64Array[];
  private most: Float64Array[];
  private readonly limit: number;

  constructor(
    readonly leaves: number,
    limit = MOST_ROWS,
  ) {
    const make = (size: number) => Array.from({ length: leaves }, () => new Float64Array(size));
    this.columns = make(1024);
    this.least = make(1024 / BLOCK);
    this.most = make(1024 / BLOCK);
    this.limit = Math.max(1024, Math.min(limit, Math.floor(MOST_NUMBERS / Math.max(1, leaves))));
  }

  get first(): number {
    return this.rows ? this.t[0]! : NaN;
  }
  get last(): number {
    return this.rows ? this.t[this.rows - 1]! : NaN;
  }

  clear(): void {
    this.rows = 0;
    this.thinned = false;
    this.version++;
  }

  /** Forgets what is later than `t`. */
  cut(t: number): void {
    this.rows = upper(this.t, this.rows, t);
    this.version++;
  }

  /** Appends rows; values lie row by row. Rows at or before the last one take its place. */
  append(t: Float64Array, values: Float64Array): void {
    if (!t.length) return;
    if (this.rows && t[0]! <= this.last) this.rows = lower(this.t, this.rows, t[0]!);
    this.reserve(this.rows + t.length);
    const { leaves, columns } = this;
    this.t.set(t, this.rows);
    for (let leaf = 0; leaf < leaves; leaf++) {
      const column = columns[leaf]!;
      for (let i = 0, at = leaf; i < t.length; i++, at += leaves) {
        column[this.rows + i] = values[at]!;
      }
    }
    const from = this.rows;
    this.rows += t.length;
    this.summarize(from);
    if (this.rows > this.limit) this.thin();
    this.version++;
  }

  private reserve(rows: number): void {
    if (rows <= this.t.length) return;
    let size = this.t.length;
    while (size < rows) size *= 2;
    const grown = (old: Float64Array, to: number) => {
      const array = new Float64Array(to);
      array.set(old);
      return array;
    };
    this.t = grown(this.t, size);
    this.columns = this.columns.map((column) => grown(column, size));
    this.least = this.least.map((column) => grown(column, size / BLOCK));
    this.most = this.most.map((column) => grown(column, size / BLOCK));
  }

  private summarize(from: number): void {
    for (let leaf = 0; leaf < this.leaves; leaf++) {
      const column = this.columns[leaf]!;
      for (let block = Math.floor(from / BLOCK); block * BLOCK < this.rows; block++) {
        const end = Math.min(this.rows, (block + 1) * BLOCK);
        const [least, most] = extremes(column, block * BLOCK, end);
        this.least[leaf]![block] = least;
        this.most[leaf]![block] = most;
      }
    }
  }

  /** Halves the rows of the older half: of four rows, two with the extremes of each column. */
  private thin(): void {
    const half = 4 * Math.floor(this.rows / 8);
    for (let from = 0, to = 0; from < half; from += 4, to += 2) {
      for (const column of this.columns) {
        const [least, most] = extremes(column, from, from + 4);
        const rises = indexOf(column, least, from) <= indexOf(column, most, from);
        column[to] = rises ? least : most;
        column[to + 1] = rises ? most : least;
      }
      this.t[to] = this.t[from]!;
      this.t[to + 1] = this.t[from + 3]!;
    }
    for (const column of [this.t, ...this.columns]) column.copyWithin(half / 2, half, this.rows);
    this.rows -= half / 2;
    this.thinned = true;
    this.summarize(0);
  }

  /** Index of the newest row at or before `t`; -1 if there is none. */
  at(t: number): number {
    return upper(this.t, this.rows, t) - 1;
  }

  /** Least and greatest of a column in rows `from..to`, NaN if there is none. */
  range(leaf: number, from: number, to: number): [number, number] {
    const column = this.columns[leaf]!;
    const [a, b] = [Math.ceil(from / BLOCK), Math.floor(to / BLOCK)];
    if (a >= b) return extremes(column, from, to);
    let [least, most] = extremes(column, from, a * BLOCK);
    const [lows, highs] = [this.least[leaf]!, this.most[leaf]!];
    for (let block = a; block < b; block++) {
      const [low, high] = [lows[block]!, highs[block]!];
      if (low < least || Number.isNaN(least)) least = low;
      if (high > most || Number.isNaN(most)) most = high;
    }
    const [low, high] = extremes(column, b * BLOCK, to);
    if (low < least || Number.isNaN(least)) least = low;
    if (high > most || Number.isNaN(most)) most = high;
    return [least, most];
  }
}

function indexOf(column: Float64Array, value: number, from: number): number {
  for (let i = from; i < from + 4; i++) if (column[i] === value) return i;
  return from;
}

/** Least and greatest of `column[from..to]` without NaN; NaN if there is none. */
export function extremes(column: Float64Array, from: number, to: number): [number, number] {
  let [least, most] = [Infinity, -Infinity];
  for (let i = from; i < to; i++) {
    const value = column[i]!;
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (least === Infinity && most === -Infinity) return [NaN, NaN];
  return [least, most];
}

/** The first index of `sorted[..rows]` with a value not below `x`. */
export function lower(sorted: Float64Array, rows: number, x: number): number {
  let [low, high] = [0, rows];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < x) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first index of `sorted[..rows]` with a value above `x`. */
export function upper(sorted: Float64Array, rows: number, x: number): number {
  let [low, high] = [0, rows];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= x) low = middle + 1;
    else high = middle;
  }
  return low;
}
