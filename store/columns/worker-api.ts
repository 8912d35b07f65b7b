import type { MessagePort } from "node:worker_threads";
import type { Importance, ImportanceBounds } from "#core/explore/importance.ts";
import type { ParamFact, RunColumn } from "#core/explore/run-table.ts";
import type { RunChangesLink } from "#core/ports/run-changes.ts";
import type {
  BestFound,
  BestGoal,
  FieldsRequest,
  FoundFields,
  FoundFrontier,
  FrontierRequest,
  FrontierRun,
  ModelSearchRequest,
  ModelSearchResult,
  NamespaceTally,
  RunSelection,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import type { Field } from "#lang/query/ast.ts";
import type { Plain, PlainMask } from "./masks/plain-query.ts";

/** What the thread of the index is started with. */
export interface WorkerStart {
  deadlineMs: number;
  masksMax: number;
  /** Where the index is kept between starts; undefined for an index of a store in memory. */
  snapshot: { file: string; runsMin: number } | undefined;
}

/**
 * What it can be asked. All wait until every acknowledged change has been applied, and throw `precondition`
 * (MASK_UNKNOWN) at once for the id of a mask that is not there any more.
 */
export interface ColumnsApi {
  /** Once, before anything is asked. */
  follow(changes: RunChangesLink): void;
  /** Before its thread is ended. */
  finish(): Promise<void> | undefined;
  search(request: Plain<SearchRequest>): SearchResult;
  searchModels(request: Plain<ModelSearchRequest>): ModelSearchResult;
  tally(readable: PlainMask): NamespaceTally[];
  best(goals: readonly BestGoal[], readable: PlainMask): (BestFound | undefined)[];
  fields(request: Plain<FieldsRequest>): FoundFields;
  /** Keeps the rows that are selected now until `closeTable`. */
  openTable(request: Plain<RunSelection>, withParams: boolean): OpenedTable;
  closeTable(id: number): void;
  /** Serves TableApi on this port, too. */
  serveTables(port: MessagePort): void;
}

export interface OpenedTable {
  id: number;
  count: number;
  /** Empty unless they were asked for. */
  params: readonly ParamFact[];
}

/** What the thread that computes over many runs asks of the index. */
export interface TableApi {
  column(table: number, field: Field): RunColumn | undefined;
  identify(
    table: number,
    places: readonly number[],
  ): (Pick<FrontierRun, "id" | "name" | "namespace"> | undefined)[];
}

/** What that thread can be asked. */
export interface AnalysisApi {
  importance(table: OpenedTable, objective: Field, bounds: ImportanceBounds): Importance;
  frontier(table: OpenedTable, goals: FrontierRequest["goals"], limit: number): FoundFrontier;
}

export const MASK_UNKNOWN = "MASK_UNKNOWN";
