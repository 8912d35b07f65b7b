/**
 * What one caller may read, as the filters need it: one byte per code of the namespace column, and the
 * rows of the runs that have a rule of their own. A mask may name 10,000 namespaces, so the bytes are
 * made once and then only for new namespaces; a search costs one look-up per row.
 */
import { BoundedMap } from "#base/bounded-map.ts";
import { maskReadsNamespace, type ReadMask } from "#core/types/scope.ts";
import { firstFrom, type Term } from "../search/filter.ts";
import { keepTable, type Flip, run } from "../search/kernels.ts";
import type { RunColumns } from "../cells/run-columns.ts";
import { FIRST_TEXT } from "../cells/value-column.ts";

/** How many masks an index keeps. Each is about as large as its list of namespaces and runs. */
export const MASKS_MAX = 64;

/** Masks by id, the ones used last. */
export class MaskTables {
  readonly #tables: BoundedMap<string, MaskTable>;

  constructor(max: number = MASKS_MAX) {
    this.#tables = new BoundedMap(max);
  }

  find(id: string): ReadMask | undefined {
    const table = this.#tables.get(id);
    if (table !== undefined) this.#tables.set(id, table);
    return table?.mask;
  }

  /** Two masks with the same id are the same mask. */
  of(mask: ReadMask): MaskTable {
    const table = this.#tables.get(mask.id) ?? new MaskTable(mask);
    this.#tables.set(mask.id, table);
    return table;
  }
}

/** One mask over the columns of one index. */
export class MaskTable {
  readonly mask: ReadMask;
  #columns: RunColumns | undefined;
  #generation = -1;
  /** By code of the namespace column: 1 when its runs may be read. */
  #table = new Uint8Array(0);
  #known = 0;
  #population = -1;
  /** Rows of runs with a rule of their own, rising, and the result of the rule. */
  #rows = new Uint32Array(0);
  #passes = new Uint8Array(0);

  constructor(mask: ReadMask) {
    this.mask = mask;
  }

  /** Whether every run is readable exactly when its namespace is. */
  get isPlain(): boolean {
    return this.mask.runs.size === 0;
  }

  /** What may be read of the current columns; valid until they change. */
  term(columns: RunColumns): Term {
    this.#bringUpToDate(columns);
    const table = this.#table;
    const rows = this.#rows;
    const passes = this.#passes;
    const { cells } = columns.fields.namespace;
    return {
      filter: {
        cost: 1,
        keep(lo, hi, selection, count, flip) {
          const part = cells.codesPart(lo, hi);
          // Every run has a namespace: there is no run in this block.
          if (part === undefined) return flip === 1 ? count : 0;
          const from = firstFrom(rows, lo);
          if (from === rows.length || rows[from]! >= hi) {
            return run(keepTable, part, selection, count, flip, table, undefined);
          }
          return keepWithExceptions({ part, table, rows, passes, from, lo }, selection, count, flip);
        },
      },
      flip: 0,
    };
  }

  #bringUpToDate(columns: RunColumns): void {
    const { namespace } = columns.fields;
    if (columns !== this.#columns || namespace.generation !== this.#generation) {
      this.#columns = columns;
      this.#generation = namespace.generation;
      this.#known = FIRST_TEXT;
      this.#table.fill(0);
      this.#population = -1;
    }
    this.#addNamespaces(columns);
    if (columns.population !== this.#population) this.#findRows(columns);
  }

  #addNamespaces({ fields: { namespace } }: RunColumns): void {
    const codes = namespace.codeCount;
    if (codes > this.#table.length) {
      const grown = new Uint8Array(Math.max(codes, 2 * this.#table.length));
      grown.set(this.#table);
      this.#table = grown;
    }
    for (; this.#known < codes; this.#known++) {
      this.#table[this.#known] = Number(maskReadsNamespace(this.mask, namespace.text(this.#known)));
    }
  }

  #findRows(columns: RunColumns): void {
    this.#population = columns.population;
    if (this.isPlain) return;
    const found: [row: number, readable: boolean][] = [];
    for (const [id, readable] of this.mask.runs) {
      const row = columns.findRow(id);
      if (row !== undefined) found.push([row, readable]);
    }
    found.sort(([a], [b]) => a - b);
    this.#rows = Uint32Array.from(found, ([row]) => row);
    this.#passes = Uint8Array.from(found, ([, readable]) => Number(readable));
  }
}

interface Block {
  part: Uint32Array;
  table: Uint8Array;
  rows: Uint32Array;
  passes: Uint8Array;
  /** Of the first row of the block that has a rule of its own. */
  from: number;
  lo: number;
}

function keepWithExceptions(block: Block, selection: Uint16Array, count: number, flip: Flip): number {
  const { part, table, rows, passes, lo } = block;
  let next = block.from;
  let kept = 0;
  for (let at = 0; at < count; at++) {
    const offset = selection[at]!;
    while (next < rows.length && rows[next]! < lo + offset) next++;
    const pass = rows[next] === lo + offset ? passes[next]! : table[part[offset]!]!;
    selection[kept] = offset;
    kept += pass ^ flip;
  }
  return kept;
}
