import { listRecords, readList, type Next } from "../snapshot/column-records.ts";
import { type Value, ValueColumn } from "./value-column.ts";

interface KeyedColumn {
  readonly key: string;
  readonly number: number;
  readonly values: ValueColumn;
  /** The last replacement that set this column; shows which values a row has lost. */
  seenIn: number;
}

/** The columns some rows have a value in. Runs of one project share it. */
interface KeySet {
  readonly columns: readonly KeyedColumn[];
  readonly hash: number;
  rows: number;
}

/** The params, or the tags, of all rows: one column per key, made and dropped with its key. */
export class KeyedColumns {
  readonly #columns = new Map<string, KeyedColumn>();
  /** Counts itself as a row, so that it is never dropped. */
  readonly #noKeys: KeySet = { columns: [], hash: 0, rows: 1 };
  /** By hash. */
  readonly #sets = new Map<number, KeySet[]>([[0, [this.#noKeys]]]);
  readonly #setOfRow: (KeySet | undefined)[] = [];
  #columnsMade = 0;
  #replacement = 0;

  /**
   * A row mostly has the keys of the row before it, in the same order. As long as that is the case, only
   * their number is kept; `#put` is made at the first key that differs.
   */
  #row = 0;
  #likely = this.#noKeys;
  #alike = 0;
  #put: KeyedColumn[] | undefined;

  find(key: string): ValueColumn | undefined {
    return this.#columns.get(key)?.values;
  }

  /** All current keys. */
  entries(): (readonly [key: string, values: ValueColumn])[] {
    return Array.from(this.#columns, ([key, { values }]) => [key, values]);
  }

  /** From here to `finish`, `put` sets the values of the row; all other values are dropped. */
  begin(row: number): void {
    this.#row = row;
    this.#alike = 0;
    this.#put = undefined;
  }

  /** A key may be put once. */
  put(key: string, value: Value): void {
    const put = this.#put;
    if (put === undefined) {
      const likely = this.#likely.columns[this.#alike];
      if (likely?.key === key) {
        likely.values.set(this.#row, value);
        this.#alike++;
        return;
      }
    }
    const column = this.#columns.get(key) ?? this.#add(key);
    column.values.set(this.#row, value);
    if (put !== undefined) put.push(column);
    else this.#put = [...this.#likely.columns.slice(0, this.#alike), column];
  }

  finish(): void {
    const before = this.#setOfRow[this.#row];
    const now = this.#finishedSet();
    now.rows++;
    this.#likely = now;
    this.#setOfRow[this.#row] = now;
    if (before === undefined) return;
    if (before !== now) {
      this.#replacement++;
      for (const column of now.columns) column.seenIn = this.#replacement;
      for (const column of before.columns) {
        if (column.seenIn !== this.#replacement) this.#deleteValue(this.#row, column);
      }
    }
    this.#release(before);
  }

  /** As `capture` of a ValueColumn. */
  capture(): Generator {
    const columns = [...this.#columns.values()];
    const numbers = new Map(columns.map((column, at) => [column, at]));
    const sets = new Map([...this.#sets.values()].flat().map((set, at) => [set, at + 1]));
    const keySets = Array.from(sets.keys(), (set) => set.columns.map((column) => numbers.get(column)!));
    const setOfRow = new Uint32Array(this.#setOfRow.length);
    for (let row = 0; row < setOfRow.length; row++) {
      const set = this.#setOfRow[row];
      if (set !== undefined) setOfRow[row] = sets.get(set)!;
    }
    const captures = columns.map(({ key, values }) => [key, values.capture()] as const);
    return captured(captures, keySets, setOfRow);
  }

  static restore(next: Next): KeyedColumns {
    const keyed = new KeyedColumns();
    const columns: KeyedColumn[] = [];
    const count = next() as number;
    for (let at = 0; at < count; at++) {
      const key = next() as string;
      const column = { key, number: ++keyed.#columnsMade, values: ValueColumn.restore(next), seenIn: 0 };
      columns.push(column);
      keyed.#columns.set(key, column);
    }
    const sets = readList<number[]>(next).map((numbers) => keyed.#share(numbers.map((at) => columns[at]!)));
    for (const set of next() as Uint32Array) {
      const own = set === 0 ? undefined : sets[set - 1]!;
      keyed.#setOfRow.push(own);
      if (own !== undefined) own.rows++;
    }
    return keyed;
  }

  #finishedSet(): KeySet {
    if (this.#put !== undefined) return this.#share(this.#put);
    if (this.#alike === this.#likely.columns.length) return this.#likely;
    return this.#share(this.#likely.columns.slice(0, this.#alike));
  }

  delete(row: number): void {
    const before = this.#setOfRow[row];
    if (before === undefined) return;
    this.#setOfRow[row] = undefined;
    for (const column of before.columns) this.#deleteValue(row, column);
    this.#release(before);
  }

  #add(key: string): KeyedColumn {
    const values = new ValueColumn();
    const column = { key, number: ++this.#columnsMade, values, seenIn: 0 };
    this.#columns.set(key, column);
    return column;
  }

  #deleteValue(row: number, column: KeyedColumn): void {
    column.values.delete(row);
    if (column.values.cells.filled === 0) this.#columns.delete(column.key);
  }

  #share(columns: readonly KeyedColumn[]): KeySet {
    let hash = 0;
    for (const column of columns) hash = (Math.imul(hash, 31) + column.number) | 0;
    let sets = this.#sets.get(hash);
    if (sets === undefined) this.#sets.set(hash, (sets = []));
    let set = sets.find((other) => sameColumns(other.columns, columns));
    if (set === undefined) sets.push((set = { columns, hash, rows: 0 }));
    return set;
  }

  #release(set: KeySet): void {
    if (--set.rows > 0) return;
    if (set === this.#likely) this.#likely = this.#noKeys;
    const sets = this.#sets.get(set.hash)!;
    sets.splice(sets.indexOf(set), 1);
    if (sets.length === 0) this.#sets.delete(set.hash);
  }
}

function* captured(
  columns: readonly (readonly [key: string, values: Generator])[],
  keySets: readonly number[][],
  setOfRow: Uint32Array,
): Generator {
  yield columns.length;
  for (const [key, values] of columns) {
    yield key;
    yield* values;
  }
  yield* listRecords(keySets);
  yield setOfRow;
}

function sameColumns(a: readonly KeyedColumn[], b: readonly KeyedColumn[]): boolean {
  if (a.length !== b.length) return false;
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false;
  return true;
}
