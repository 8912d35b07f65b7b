import { BoundedMap } from "#base/bounded-map.ts";
import { CairnError } from "#lang/errors.ts";
import type { RunColumn } from "#core/explore/run-table.ts";
import type { FieldsRequest, FoundFields, FrontierRun, RunSelection } from "#core/ports/run-search.ts";
import { systemClock } from "#base/clock.ts";
import type { Field } from "#lang/query/ast.ts";
import type { RunIndex } from "../index.ts";
import type { SelectedRows } from "../search/selected-rows.ts";
import type { OpenedTable } from "../worker-api.ts";

interface Table {
  readonly rows: SelectedRows;
  readonly nowUs: number;
}

/** More than are in use at once: one whose caller disconnected before it had the id is never closed. */
const TABLES_MAX = 64;

/** Selections of runs whose columns are read one after the other while others search. */
export class OpenTables {
  readonly #index: RunIndex;
  readonly #tables = new BoundedMap<number, Table>(TABLES_MAX, (_, table) => table.rows.close());
  #opened = 0;

  constructor(index: RunIndex) {
    this.#index = index;
  }

  /** Pauses as `RunIndex.fields` does. */
  *open(selection: RunSelection, withParams: boolean): Generator<void, OpenedTable> {
    const rows = this.#index.select(selection);
    const id = ++this.#opened;
    this.#tables.set(id, { rows, nowUs: selection.nowUs ?? systemClock.nowUs() });
    let facts: FoundFields | undefined;
    let isWhole = false;
    try {
      if (withParams) facts = yield* this.#index.fieldsOf(ALL_PARAMS, rows);
      isWhole = true;
    } finally {
      // Also when it is aborted in the middle.
      if (!isWhole) this.close(id);
    }
    return {
      id,
      count: rows.count,
      params: facts?.fields.map(({ key, varies, variety }) => ({ key, varies, variety })) ?? [],
    };
  }

  close(id: number): void {
    this.#tables.get(id)?.rows.close();
    this.#tables.delete(id);
  }

  column(id: number, field: Field): RunColumn | undefined {
    const { rows, nowUs } = this.#get(id);
    return this.#index.column(field, rows, nowUs);
  }

  identify(
    id: number,
    places: readonly number[],
  ): (Pick<FrontierRun, "id" | "name" | "namespace"> | undefined)[] {
    const { rows } = this.#get(id);
    return places.map((place) => this.#index.identify(rows, place));
  }

  #get(id: number): Table {
    const table = this.#tables.get(id);
    // Its caller has disconnected, so this reaches no one.
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
