import type { Extent } from "./cells.ts";
import { type Value, ValueColumn } from "./value-column.ts";

interface KeyedColumn {
  readonly key: string;
  readonly number: number;
  readonly values: ValueColumn;
  /** The last replacement that set this column; tells what a row has lost. */
  seenIn: number;
}

/** The columns some rows have a value in. Runs of one project share it. */
interface KeySet {
  readonly columns: readonly KeyedColumn[];
  readonly hash: number;
  rows: number;
}

/** The params, or the tags, of all rows: one column per key, made and dropped as keys come and go. */
export class KeyedColumns {
  readonly #extent: Extent;
  readonly #columns = new Map<string, KeyedColumn>();
  readonly #sets = new Map<number, KeySet[]>();
  readonly #setOfRow: (KeySet | undefined)[] = [];
  #columnsMade = 0;
  #replacement = 0;

  #row = 0;
  #put: KeyedColumn[] = [];
  #hash = 0;
  #likely: readonly KeyedColumn[] = [];

  constructor(extent: Extent) {
    this.#extent = extent;
  }

  find(key: string): ValueColumn | undefined {
    return this.#columns.get(key)?.values;
  }

  get size(): number {
    return this.#columns.size;
  }

  /** From here to `finish`, `put` says what the row has; whatever else it had is dropped. */
  begin(row: number): void {
    this.#row = row;
    this.#put = [];
    this.#hash = 0;
  }

  /** A key may be put once. */
  put(key: string, value: Value): void {
    // A run mostly has the keys of the run before it, in the same order: that saves the hashing.
    const likely = this.#likely[this.#put.length];
    const column = likely?.key === key ? likely : (this.#columns.get(key) ?? this.#add(key));
    column.values.set(this.#row, value);
    this.#put.push(column);
    this.#hash = (Math.imul(this.#hash, 31) + column.number) | 0;
  }

  finish(): void {
    const columns = this.#put;
    const row = this.#row;
    const before = this.#setOfRow[row];
    const now = this.#share(columns, this.#hash);
    this.#likely = now.columns;
    this.#setOfRow[row] = now;
    if (before === undefined) return;
    if (before !== now) {
      this.#replacement++;
      for (const column of columns) column.seenIn = this.#replacement;
      for (const column of before.columns) {
        if (column.seenIn !== this.#replacement) this.#deleteValue(row, column);
      }
    }
    this.#release(before);
  }

  delete(row: number): void {
    const before = this.#setOfRow[row];
    if (before === undefined) return;
    this.#setOfRow[row] = undefined;
    for (const column of before.columns) this.#deleteValue(row, column);
    this.#release(before);
  }

  #add(key: string): KeyedColumn {
    const values = new ValueColumn(this.#extent);
    const column = { key, number: ++this.#columnsMade, values, seenIn: 0 };
    this.#columns.set(key, column);
    return column;
  }

  #deleteValue(row: number, column: KeyedColumn): void {
    column.values.delete(row);
    if (column.values.cells.filled > 0) return;
    this.#columns.delete(column.key);
    this.#likely = [];
  }

  #share(columns: readonly KeyedColumn[], hash: number): KeySet {
    let sets = this.#sets.get(hash);
    if (sets === undefined) this.#sets.set(hash, (sets = []));
    let set = sets.find((other) => sameColumns(other.columns, columns));
    if (set === undefined) sets.push((set = { columns, hash, rows: 0 }));
    set.rows++;
    return set;
  }

  #release(set: KeySet): void {
    if (--set.rows > 0) return;
    const sets = this.#sets.get(set.hash)!;
    sets.splice(sets.indexOf(set), 1);
    if (sets.length === 0) this.#sets.delete(set.hash);
  }
}

function sameColumns(a: readonly KeyedColumn[], b: readonly KeyedColumn[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
