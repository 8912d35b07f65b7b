import type { Next } from "../snapshot/column-records.ts";
import { codesWhere, opposite, present, type Term } from "../search/filter.ts";
import { FIRST_TEXT, ValueColumn } from "./value-column.ts";

/**
 * Texts of which a row may have many. Most runs of a project have the same list, so a list is one text of a dictionary: its
 * JSON. Conditions look at every list once, not at every row.
 */
export class ListColumn {
  #values = new ValueColumn();
  /** By code, of one generation of the dictionary. */
  #lists: (readonly string[] | undefined)[] = [];
  #generation = 0;

  set(row: number, list: readonly string[]): void {
    if (list.length === 0) this.#values.delete(row);
    else this.#values.set(row, JSON.stringify(list));
  }

  delete(row: number): void {
    this.#values.delete(row);
  }

  capture(): Generator {
    return this.#values.capture();
  }

  static restore(next: Next): ListColumn {
    const column = new ListColumn();
    column.#values = ValueColumn.restore(next);
    return column;
  }

  first(row: number): string | undefined {
    const code = this.#values.cells.code(row);
    return code < FIRST_TEXT ? undefined : this.#list(code)[0];
  }

  /** Rows with one of these texts. */
  oneOf(texts: readonly string[]): Term {
    const wanted = new Set(texts);
    return this.where(1, (text) => wanted.has(text));
  }

  /** Rows with a text that passes. */
  where(testCost: number, test: (text: string) => boolean): Term {
    const { cells, codeCount } = this.#values;
    return codesWhere(
      cells,
      codeCount,
      testCost,
      (code) => code >= FIRST_TEXT && this.#list(code).some((text) => test(text)),
    );
  }

  absent(): Term {
    return opposite(present(this.#values.cells));
  }

  #list(code: number): readonly string[] {
    if (this.#generation !== this.#values.generation) {
      this.#generation = this.#values.generation;
      this.#lists = [];
    }
    return (this.#lists[code] ??= JSON.parse(this.#values.text(code)) as string[]);
  }
}
