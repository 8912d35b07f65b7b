import type { MessagePort } from "node:worker_threads";
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
  Importance,
  ImportanceBounds,
  ModelSearchRequest,
  ModelSearchResult,
  NamespaceTally,
  RunSelection,
  SearchRequest,
  SearchResult,
} from "#core/ports/run-search.ts";
import type { Field } from "#lang/query/ast.ts";
import type { Plain, PlainMask } from "./masks/plain-query.ts";

/** The start data of the thread of the index. */
export interface WorkerStart {
  deadlineMs: number;
  masksMax: number;
  /** Where the index is stored between starts; undefined for an index of a store in memory. */
  snapshot: { file: string; runsMin: number } | undefined;
}

/**
 * Its calls. All wait until every acknowledged change has been applied, and throw `precondition`
 * (MASK_UNKNOWN) at once for the id of a mask that it has dropped.
 */
export interface ColumnsApi {
  /** Once, before any other call. */
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
  /** Empty unless requested. */
  params: readonly ParamFact[];
}

/** Calls of the thread that computes over many runs to the index. */
export interface TableApi {
  column(table: number, field: Field): RunColumn | undefined;
  identify(
    table: number,
    places: readonly number[],
  ): (Pick<FrontierRun, "id" | "name" | "namespace"> | undefined)[];
}

/** Calls to that thread. */
export interface AnalysisApi {
  importance(table: OpenedTable, objective: Field, bounds: ImportanceBounds): Importance;
  frontier(table: OpenedTable, goals: FrontierRequest["goals"], limit: number): FoundFrontier;
}

export const MASK_UNKNOWN = "MASK_UNKNOWN";
