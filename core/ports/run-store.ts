import type { SeqRange } from "../types/envelope.ts";
import type { Run, RunChange } from "../types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { AuditRecord } from "./access-store.ts";

/**
 * Holds runs and answers from the ledger of their envelopes, which come in through the Journal.
 *
 * Every method is one transaction: it happens as a whole or not at all, and when its promise
 * resolves the outcome is durable. Calls may overlap; calls of one caller that do not wait for each
 * other are applied in the order they were made. The effect of a resolved call is visible to every later call of
 * any method, also of the other ports of the same engine.
 *
 * Input has been checked against lang/limits.ts; limits that need what is stored (params per run and
 * their bytes, series per run) are checked here and throw `exhausted`. A store that can no longer write throws
 * `unavailable` and continues to read.
 *
 * A record for the audit is written in the same transaction as the change it records, and not without it.
 *
 * A read with a signal stops once that is aborted, and rejects with the signal's reason.
 */
export interface RunStore {
  /**
   * Creates the run and, where missing, its namespace. An alias that is taken in that very namespace
   * (also by a run in the trash) throws `exists`, or with `getOrCreate` returns the run that has it,
   * unchanged; aliases of two different runs throw `precondition`. The run is returned light, as by `updateRun` and
   * `setDeleted`: where its heavy parts have more than `lightRunBytesMax` they are left out, and `leftOutBytes` is set,
   * so that answers to many writes do not fill the memory. `getRuns` has the whole.
   */
  createRun(run: Run, options: { getOrCreate: boolean }): Promise<{ run: Run; created: boolean }>;
  /**
   * Runs the reference names: at most one by id or path; by alias one per namespace, rising by namespace,
   * at most CANDIDATES_MAX, or a page of those in namespaces after `after`. Includes runs in the trash.
   * Parts in `omit` are empty, and cost nothing; with `light` heavy parts that are large are left out (see `createRun`).
   */
  findRuns(
    ref: RunRef,
    options?: { omit?: readonly HeavyPart[]; light?: boolean; page?: { after: string; limit: number } },
  ): Promise<Run[]>;
  /**
   * In the order of `ids`; unknown ids are left out. Parts in `omit` are empty, and cost nothing. Ends before
   * the run whose texts would make all of them more than `bytesMax`, but for the first; `looked` is how
   * many of the ids were read, at least one where there is one. Call again with the others, unless
   * the caller disconnected: one call ends soon.
   */
  getRuns(
    ids: readonly string[],
    options: GetRuns,
    signal?: AbortSignal,
  ): Promise<{ runs: Run[]; looked: number }>;
  /**
   * Merges per key. Throws `not-found`; `exists` when an alias is taken; `precondition` as `change.paramsOnce` says. `nowUs` stamps the change. The record is
   * written when a field changed (core/runs/run-difference.ts), with their names as fact `fields`.
   */
  updateRun(id: string, change: RunChange, nowUs: number, audit?: AuditRecord): Promise<Run>;
  /** Into the trash (a time) or out of it (undefined). Doing it twice changes nothing, and notifies once. */
  setDeleted(id: string, deletedUs: number | undefined, audit: AuditRecord): Promise<Run>;
  /**
   * Destroys the run, its ledger, its points and the bindings and closures on it. Throws `precondition`
   * unless it is in the trash.
   */
  purgeRun(id: string, audit: AuditRecord): Promise<{ points: number }>;
  /**
   * Puts the run into another namespace, which is created with its parents where missing; the bindings and closures on it
   * and on its artifacts move with it. Nothing else of it changes. Does nothing and returns undefined when access may have
   * changed after the position `accessAt` of the Journal. Throws `not-found`; `precondition` (RUN_MOVED) when it is no longer
   * in `from`; `exists` (ALIAS_TAKEN) when an alias of it is taken in `to`.
   */
  moveRun(id: string, move: MoveRun, nowUs: number, audit: AuditRecord): Promise<Run | undefined>;
  /** Running runs whose writer promised heartbeats and has been silent for three become lost. Returns how many. */
  expireHeartbeats(nowUs: number): Promise<number>;

  /**
   * Writers by name. Reads every stored checksum of the run. The list of writers and their ranges ends
   * with `bytesMax`, pageBytesMax when absent; the totals are of all.
   */
  verifyRun(id: string, bytesMax?: number, signal?: AbortSignal): Promise<RunLedger>;
}

export interface MoveRun {
  from: string;
  to: string;
  accessAt: number;
}

/** The most runs returned for one alias. */
export const CANDIDATES_MAX = 10;

/** Parts of a run that can be large. */
export type HeavyPart = "params" | "tags" | "notes" | "provenance";
export const HEAVY_PARTS: readonly HeavyPart[] = ["params", "tags", "notes", "provenance"];

export interface GetRuns {
  omit?: readonly HeavyPart[];
  /** Of a provenance that is omitted, what queries know of it (lang/query/provenance-fields.ts) is read nevertheless. */
  searchable?: boolean;
  bytesMax: number;
}

export interface WriterLedger {
  writer: string;
  envelopes: number;
  lastSeq: number;
  lost: SeqRange[];
  /** Missing without a declaration: only by damage. */
  gaps: SeqRange[];
  firstReceivedUs: number;
  lastReceivedUs: number;
}

export interface RunLedger {
  writers: WriterLedger[];
  totals: LedgerTotals;
  /** Points read back with their checksums right. */
  points: number;
  unnumberedEnvelopes: number;
  /** One sentence per damaged piece, at most PROBLEMS_MAX. */
  problems: string[];
  /** Whether writers, their ranges or problems are missing from the lists. */
  truncated: boolean;
}

/** Sums over all writers: numbers of envelopes, ranges of gaps. */
export interface LedgerTotals {
  envelopes: number;
  lastSeq: number;
  lost: number;
  gaps: number;
  problems: number;
}
