import type { ModelFeed, ModelFeedRow } from "#core/ports/run-changes.ts";
import type { ModelFieldName } from "#lang/query/ast.ts";
import { KeyRows } from "../cells/key-rows.ts";
import { ValueColumn } from "../cells/value-column.ts";
import { FreeRows } from "../free-rows.ts";
import type { Next } from "../snapshot/column-records.ts";

/** All models as columns over rows of their own. Each names the row of its run. */
export class ModelColumns {
  /** One more than the highest row in use. */
  rows = 0;
  fields: Readonly<Record<ModelFieldName, ValueColumn>> = {
    name: new ValueColumn(),
    step: new ValueColumn(),
    size: new ValueColumn(),
    created: new ValueColumn(),
  };
  #runRows = new KeyRows();
  #freeRows = new FreeRows();
  /** By the key that the store assigned. */
  #rowOfKey = new Map<number, number>();

  /** The row of its run; undefined for a free row. */
  runOf(row: number): number | undefined {
    return this.#runRows.get(row);
  }

  /** `rowOfRun` knows the rows of runs by their keys. */
  apply({ gone, rows }: ModelFeed, rowOfRun: (key: number) => number | undefined): void {
    for (const key of gone) this.#delete(key);
    for (const model of rows) {
      const runRow = rowOfRun(model.run);
      if (runRow !== undefined) this.#set(model, runRow);
    }
  }

  /** All models of these runs. */
  deleteRuns(runRows: ReadonlySet<number>): void {
    if (runRows.size === 0) return;
    for (const [key, row] of this.#rowOfKey) if (runRows.has(this.#runRows.get(row)!)) this.#delete(key);
  }

  /** The current content. Later reads of it return the same. */
  capture(): Generator {
    const keys = new Float64Array(this.#rowOfKey.size);
    const rowsOfKeys = new Uint32Array(this.#rowOfKey.size);
    let at = 0;
    for (const [key, row] of this.#rowOfKey) {
      keys[at] = key;
      rowsOfKeys[at++] = row;
    }
    const plain = [this.rows, this.#freeRows.all(), this.#runRows.copy(), keys, rowsOfKeys];
    return captured(
      plain,
      Object.values(this.fields).map((field) => field.capture()),
    );
  }

  static restore(next: Next): ModelColumns {
    const columns = new ModelColumns();
    columns.rows = next() as number;
    columns.#freeRows = new FreeRows(next() as number[]);
    columns.#runRows = new KeyRows(next() as Uint32Array);
    const keys = next() as Float64Array;
    const rowsOfKeys = next() as Uint32Array;
    for (let at = 0; at < keys.length; at++) columns.#rowOfKey.set(keys[at]!, rowsOfKeys[at]!);
    const fields = Object.keys(columns.fields).map((name) => [name, ValueColumn.restore(next)]);
    columns.fields = Object.fromEntries(fields) as ModelColumns["fields"];
    return columns;
  }

  #set({ key, name, step, sizeBytes, createdUs }: ModelFeedRow, runRow: number): void {
    let row = this.#rowOfKey.get(key);
    if (row === undefined) {
      row = this.#freeRows.take() ?? this.rows++;
      this.#rowOfKey.set(key, row);
    }
    this.#runRows.set(row, runRow);
    this.fields.name.set(row, name);
    this.fields.step.setOrDelete(row, step);
    this.fields.size.setOrDelete(row, sizeBytes);
    this.fields.created.set(row, createdUs);
  }

  #delete(key: number): void {
    const row = this.#rowOfKey.get(key);
    if (row === undefined) return;
    this.#rowOfKey.delete(key);
    this.#runRows.delete(row);
    for (const field of Object.values(this.fields)) field.delete(row);
    this.#freeRows.add(row);
  }
}

function* captured(plain: readonly unknown[], fields: readonly Generator[]): Generator {
  yield* plain;
  for (const field of fields) yield* field;
}
