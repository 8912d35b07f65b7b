import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { findField } from "#lang/query/field-text.ts";
import {
  columnOf,
  flatParams,
  isExplorable,
  type ColumnSource,
  type ExploredColumn,
} from "./explored-column.ts";

/** The explored runs, as columns that are made on demand. */
export class ExploredTable {
  readonly runs: readonly Run[];
  readonly #source: ColumnSource;
  readonly #columns = new Map<string, ExploredColumn | undefined>();

  constructor(runs: readonly Run[], nowMs: number) {
    this.runs = runs;
    this.#source = { runs, flat: runs.map(flatParams), nowMs };
  }

  /** Undefined for an invalid field, or one that this page cannot show. */
  column(text: string): ExploredColumn | undefined {
    if (this.#columns.has(text)) return this.#columns.get(text);
    const field = findField(text);
    const column =
      field === undefined || !isExplorable(field) ? undefined : columnOf(this.#source, text, field);
    this.#columns.set(text, column);
    return column;
  }
}
