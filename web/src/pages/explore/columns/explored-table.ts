import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { findField } from "#lang/query/field-text.ts";
import {
  columnOf,
  flatParams,
  isExplorable,
  type ColumnSource,
  type ExploredColumn,
} from "./explored-column.ts";

/** The runs that are explored, as columns that are made when they are asked for. */
export class ExploredTable {
  readonly runs: readonly Run[];
  readonly #source: ColumnSource;
  readonly #columns = new Map<string, ExploredColumn | undefined>();

  constructor(runs: readonly Run[], nowMs: number) {
    this.runs = runs;
    this.#source = { runs, flat: runs.map(flatParams), nowMs };
  }

  /** Undefined for what is no field, or none that this page can show. */
  column(text: string): ExploredColumn | undefined {
    if (this.#columns.has(text)) return this.#columns.get(text);
    const field = findField(text);
    const column =
      field === undefined || !isExplorable(field) ? undefined : columnOf(this.#source, text, field);
    this.#columns.set(text, column);
    return column;
  }
}
