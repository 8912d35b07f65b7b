import { listRecords, readList, type Next } from "../snapshot/column-records.ts";
import { type Filter, opposite, rowsIn, type Term } from "../search/filter.ts";

/** The aliases of all rows. Nearly every alias is unique, so rows are found by it, not by scanning. */
export class AliasColumn {
  readonly #aliases: (readonly string[] | undefined)[] = [];
  readonly #rows = new Map<string, number | number[]>();

  set(row: number, aliases: readonly string[]): void {
    this.delete(row);
    if (aliases.length === 0) return;
    this.#aliases[row] = aliases;
    for (const alias of aliases) {
      const others = this.#rows.get(alias);
      if (others === undefined) this.#rows.set(alias, row);
      else if (typeof others === "number") this.#rows.set(alias, [others, row]);
      else others.push(row);
    }
  }

  delete(row: number): void {
    const aliases = this.#aliases[row];
    if (aliases === undefined) return;
    this.#aliases[row] = undefined;
    for (const alias of aliases) {
      const rows = this.#rows.get(alias);
      if (typeof rows === "number") this.#rows.delete(alias);
      else rows?.splice(rows.indexOf(row), 1);
      if (Array.isArray(rows) && rows.length === 0) this.#rows.delete(alias);
    }
  }

  capture(): Generator {
    const named: (readonly [row: number, aliases: readonly string[]])[] = [];
    for (let row = 0; row < this.#aliases.length; row++) {
      const aliases = this.#aliases[row];
      if (aliases !== undefined) named.push([row, aliases]);
    }
    return listRecords(named);
  }

  static restore(next: Next): AliasColumn {
    const column = new AliasColumn();
    for (const [row, aliases] of readList<[number, string[]]>(next)) column.set(row, aliases);
    return column;
  }

  first(row: number): string | undefined {
    return this.#aliases[row]?.[0];
  }

  /** Rows that have one of these aliases. */
  oneOf(aliases: readonly string[]): Term {
    return rowsIn(new Set(aliases.flatMap((alias) => this.#rows.get(alias) ?? [])));
  }

  /** Rows with an alias that passes. */
  where(testCost: number, test: (alias: string) => boolean): Term {
    return { filter: testFilter(testCost, (row) => this.#aliases[row]?.some(test) ?? false), flip: 0 };
  }

  absent(): Term {
    return opposite({ filter: testFilter(5, (row) => this.#aliases[row] !== undefined), flip: 0 });
  }
}

function testFilter(cost: number, test: (row: number) => boolean): Filter {
  return {
    cost,
    keep(lo, _hi, selection, count, flip) {
      let kept = 0;
      for (let at = 0; at < count; at++) {
        const offset = selection[at]!;
        if (Number(test(lo + offset)) !== flip) selection[kept++] = offset;
      }
      return kept;
    },
  };
}
