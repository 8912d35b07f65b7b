import type { NamespacePaths, RunFeedRow } from "#core/ports/run-changes.ts";
import type { RunField } from "#lang/query/ast.ts";
import { listRecords, readList, type Next } from "../snapshot/column-records.ts";
import { PROVENANCE_LISTS, PROVENANCE_TEXTS, type ProvenanceList } from "#lang/query/provenance-fields.ts";
import { AliasColumn } from "./alias-column.ts";
import { KeyedColumns } from "./keyed-columns.ts";
import { ListColumn } from "./list-column.ts";
import { MetricColumn } from "./metric-column.ts";
import { putParams } from "./params.ts";
import { ValueColumn } from "./value-column.ts";

/** Fields that are one stored value; `alias` and lists have many and `duration` is computed. */
export type StoredField = Exclude<RunField, "alias" | "duration" | ProvenanceList>;

/** All data of the index, as columns over the same rows. The index assigns the rows. */
export class RunColumns {
  /** One more than the highest row in use. */
  rows = 0;
  /** Rises when a row gets another run, or none. */
  population = 0;
  fields: Readonly<Record<StoredField, ValueColumn>> = {
    id: new ValueColumn(),
    name: new ValueColumn(),
    namespace: new ValueColumn(),
    status: new ValueColumn(),
    notes: new ValueColumn(),
    created: new ValueColumn(),
    started: new ValueColumn(),
    ended: new ValueColumn(),
    updated: new ValueColumn(),
    creator: new ValueColumn(),
    user: new ValueColumn(),
    host: new ValueColumn(),
    study: new ValueColumn(),
    initial_state: new ValueColumn(),
    feature_pipeline: new ValueColumn(),
    logs_location: new ValueColumn(),
    repository: new ValueColumn(),
    commit: new ValueColumn(),
    branch: new ValueColumn(),
  };
  lists: Readonly<Record<ProvenanceList, ListColumn>> = {
    training_data: new ListColumn(),
    test_data: new ListColumn(),
  };
  /** A bool for every row in use. */
  trashed = new ValueColumn();
  #trashedRows = 0;
  aliases = new AliasColumn();
  params = new KeyedColumns();
  tags = new KeyedColumns();
  readonly #metrics = new Map<string, MetricColumn>();
  /** By their paths, of all that are among the texts of that column. */
  #namespaceIds = new Map<string, number>();
  #namespaceGeneration = 0;
  /** Ids. */
  #trashedNamespaces = new Set<number>();
  /** By the code of their id: ids are all different, so that each code has one row. */
  #rowOfIdCode: number[] = [];
  #idGeneration = 0;

  /** The current content. Later reads of it return the same. */
  capture(): Generator {
    const { fields, lists, trashed, aliases, params, tags } = this;
    const all = [...Object.values(fields), ...Object.values(lists), trashed, aliases, params, tags];
    const parts = all.map((part) => part.capture());
    const metrics = Array.from(this.#metrics, ([key, column]) => [key, column.capture()] as const);
    const namespaces = [[...this.#namespaceIds], [...this.#trashedNamespaces]];
    return captured(this.rows, namespaces, parts, metrics);
  }

  static restore(next: Next): RunColumns {
    const columns = new RunColumns();
    columns.rows = next() as number;
    columns.#namespaceIds = new Map(readList<readonly [string, number]>(next));
    columns.#trashedNamespaces = new Set(readList<number>(next));
    const fields = Object.keys(columns.fields).map((name) => [name, ValueColumn.restore(next)]);
    columns.fields = Object.fromEntries(fields) as RunColumns["fields"];
    const lists = Object.keys(columns.lists).map((name) => [name, ListColumn.restore(next)]);
    columns.lists = Object.fromEntries(lists) as RunColumns["lists"];
    columns.trashed = ValueColumn.restore(next);
    columns.aliases = AliasColumn.restore(next);
    columns.params = KeyedColumns.restore(next);
    columns.tags = KeyedColumns.restore(next);
    const metrics = next() as number;
    for (let at = 0; at < metrics; at++) {
      columns.#metrics.set(next() as string, MetricColumn.restore(next));
    }
    const { id } = columns.fields;
    for (let row = 0; row < columns.rows; row++) {
      if (columns.trashed.value(row) === true) columns.#trashedRows++;
      columns.#rowOfIdCode[id.cells.code(row)] = row;
    }
    return columns;
  }

  set(row: number, run: RunFeedRow): void {
    const { fields } = this;
    this.#setId(row, run.id);
    fields.name.set(row, run.name);
    this.#setNamespace(row, run);
    fields.status.set(row, run.status);
    fields.notes.set(row, run.notes);
    fields.created.set(row, run.createdUs);
    fields.updated.set(row, run.updatedUs);
    fields.started.setOrDelete(row, run.startedUs);
    fields.ended.setOrDelete(row, run.endedUs);
    fields.creator.setOrDelete(row, run.creator || undefined);
    const { searchable } = run;
    for (const name of PROVENANCE_TEXTS) fields[name].setOrDelete(row, searchable?.[name] || undefined);
    for (const name of PROVENANCE_LISTS) this.lists[name].set(row, searchable?.[name] ?? []);
    this.#setTrashed(row, run.deletedUs !== undefined);
    this.aliases.set(row, run.aliases);
    putParams(this.params, row, run.params);
    this.tags.begin(row);
    for (const tag of run.tags) this.tags.put(tag[0], tag[1]);
    this.tags.finish();
  }

  delete(row: number): void {
    this.population++;
    for (const column of [...Object.values(this.fields), ...Object.values(this.lists)]) column.delete(row);
    this.#setTrashed(row, undefined);
    this.aliases.delete(row);
    this.params.delete(row);
    this.tags.delete(row);
    for (const [key, column] of this.#metrics) {
      column.delete(row);
      if (column.cells.filled === 0) this.#metrics.delete(key);
    }
  }

  /** undefined for an unknown run. */
  findRow(id: string): number | undefined {
    const code = this.fields.id.findCode(id);
    const row = code === undefined ? undefined : this.#rowOfIdCode[code];
    // The id of a purged run may still be in the dictionary.
    return row !== undefined && this.fields.id.cells.code(row) === code ? row : undefined;
  }

  /** Namespaces that were moved have other paths now, and other ones are in the trash; their rows are not touched. */
  moveNamespaces(paths: NamespacePaths): void {
    const now = new Map(paths.map(([id, path]) => [id, path]));
    this.#trashedNamespaces = new Set(paths.filter(([, , isTrashed]) => isTrashed).map(([id]) => id));
    const ids = this.#namespaceIds;
    this.#namespaceIds = new Map();
    this.fields.namespace.replaceTexts((text) => {
      const id = ids.get(text)!;
      // Of one that is gone the path may be another one's now. Runs that are still there go in a later part.
      const path = now.get(id) ?? `\n${id}`;
      this.#namespaceIds.set(path, id);
      return path;
    });
    this.#namespaceGeneration = this.fields.namespace.generation;
  }

  /** Whether any namespace is in the trash: its rows are, too. */
  get hasTrashedNamespaces(): boolean {
    return this.#trashedNamespaces.size > 0;
  }

  isNamespaceTrashed(path: string): boolean {
    return this.#trashedNamespaces.has(this.#namespaceIds.get(path)!);
  }

  #setNamespace(row: number, { namespace, namespaceId }: RunFeedRow): void {
    const { namespace: column } = this.fields;
    column.set(row, namespace);
    this.#namespaceIds.set(namespace, namespaceId);
    if (column.generation === this.#namespaceGeneration) return;
    // Texts without a row have been forgotten.
    this.#namespaceGeneration = column.generation;
    for (const path of this.#namespaceIds.keys()) {
      if (column.findCode(path) === undefined) this.#namespaceIds.delete(path);
    }
  }

  #setId(row: number, id: string): void {
    const { id: column } = this.fields;
    const before = column.cells.code(row);
    column.set(row, id);
    if (column.generation !== this.#idGeneration) {
      this.#idGeneration = column.generation;
      this.#rowOfIdCode = [];
      for (let other = 0; other < this.rows; other++) this.#rowOfIdCode[column.cells.code(other)] = other;
    }
    const code = column.cells.code(row);
    this.#rowOfIdCode[code] = row;
    if (code !== before) this.population++;
  }

  /** True while every row is in use and none is in the trash. */
  get allLive(): boolean {
    return !this.hasTrashedNamespaces && this.#trashedRows === 0 && this.trashed.cells.filled === this.rows;
  }

  #setTrashed(row: number, trashed: boolean | undefined): void {
    if (this.trashed.value(row) === true) this.#trashedRows--;
    if (trashed === true) this.#trashedRows++;
    if (trashed === undefined) this.trashed.delete(row);
    else this.trashed.set(row, trashed);
  }

  findMetric(key: string): MetricColumn | undefined {
    return this.#metrics.get(key);
  }

  /** All current keys. */
  metricEntries(): (readonly [key: string, column: MetricColumn])[] {
    return [...this.#metrics];
  }

  metric(key: string): MetricColumn {
    let column = this.#metrics.get(key);
    if (column === undefined) this.#metrics.set(key, (column = new MetricColumn()));
    return column;
  }
}

function* captured(
  rows: number,
  namespaces: readonly (readonly unknown[])[],
  parts: readonly Generator[],
  metrics: readonly (readonly [key: string, column: Generator])[],
): Generator {
  yield rows;
  for (const list of namespaces) yield* listRecords(list);
  for (const part of parts) yield* part;
  yield metrics.length;
  for (const [key, column] of metrics) {
    yield key;
    yield* column;
  }
}
