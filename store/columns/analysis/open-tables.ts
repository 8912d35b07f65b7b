import { CairnError } from "#lang/errors.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import type { FieldsRequest, FrontierRun, RunSelection } from "#core/ports/run-search.ts";
import { systemClock } from "#base/clock.ts";
import type { Field } from "#lang/query/ast.ts";
import type { RunIndex } from "../index.ts";
import type { SelectedRows } from "../search/selected-rows.ts";
import type { OpenedTable } from "../worker-api.ts";

interface Table {
  readonly rows: SelectedRows;
  readonly nowUs: number;
}

/** Selections of runs whose columns are read one after the other while others search. */
export class OpenTables {
  readonly #index: RunIndex;
  readonly #tables = new Map<number, Table>();
  #opened = 0;

  constructor(index: RunIndex) {
    this.#index = index;
  }

  /** Pauses as `RunIndex.fields` does. */
  *open(selection: RunSelection, withParams: boolean): Generator<void, OpenedTable> {
    const rows = this.#index.select(selection);
    const facts = withParams ? yield* this.#index.fields({ ...selection, ...ALL_PARAMS }, rows) : undefined;
    const id = ++this.#opened;
    this.#tables.set(id, { rows, nowUs: selection.nowUs ?? systemClock.nowUs() });
    return {
      id,
      count: rows.count,
      params: facts?.fields.map(({ key, varies, variety }) => ({ key, varies, variety })) ?? [],
    };
  }

  close(id: number): void {
    this.#tables.delete(id);
  }

  column(id: number, field: Field): RunColumn | undefined {
    const { rows, nowUs } = this.#get(id);
    return this.#index.column(field, rows, nowUs);
  }

  identify(id: number, places: readonly number[]): Pick<FrontierRun, "id" | "name" | "namespace">[] {
    const { rows } = this.#get(id);
    return places.map((place) => this.#index.identify(rows.rowAt(place)));
  }

  #get(id: number): Table {
    const table = this.#tables.get(id);
    // Its caller is gone, and so is who would receive this.
    if (table === undefined) throw new CairnError("aborted", "cannot read runs: they are closed");
    return table;
  }
}

const ALL_PARAMS: Omit<FieldsRequest, keyof RunSelection> = {
  kinds: new Set(["param"]),
  find: "",
  known: { objective: undefined, described: new Set() },
  valuesMax: 0,
  offset: 0,
  limit: Infinity,
};
