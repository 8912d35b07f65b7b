import type { CapturePolicy } from "../types/capture.ts";
import type { Envelope, EnvelopeAck, SeqRange } from "../types/envelope.ts";
import type { KeyDescription, Namespace, Objective } from "../types/namespace.ts";
import type { Run, RunChange } from "../types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/**
 * Holds namespaces, runs and the ledger of envelopes.
 *
 * Every method is one transaction: it happens as a whole or not at all, and when its promise
 * resolves the outcome is durable. Calls may overlap; calls of one caller that do not wait for each
 * other are applied in the order they were made. What has resolved is visible to every later call of
 * any method, also of the PointStore that belongs to this store.
 *
 * Input has been checked against lang/limits.ts; limits that need what is stored (params per run and
 * their bytes, series per run) are checked here and throw `exhausted`. A store that cannot write any more throws
 * `unavailable` and goes on reading.
 *
 * A record for the audit is written in the same transaction as what it tells of, and not without it.
 *
 * A read with a signal stops once that is aborted, and rejects with the signal's reason.
 */
export interface RunStore {
  /** Creates the namespace and its missing parents; none forbids anything. Throws `exists` when the path is taken. */
  createNamespace(namespace: Omit<Namespace, "capture">, audit?: AuditRecord): Promise<Namespace>;
  findNamespace(path: string): Promise<Namespace | undefined>;
  /** Rising by path (code points of the path with "/" lowest, so parents come before children). */
  listNamespaces(
    page: PartBound & { under: string; after: string | undefined },
  ): Promise<ListPart<Namespace>>;
  /** Objectives that are set on these very namespaces, by path; those without one are left out. */
  findObjectives(paths: readonly string[]): Promise<[path: string, objective: Objective][]>;
  /** Throws `not-found`. `objective: null` removes it. The record is written when something changed. */
  updateNamespace(path: string, change: NamespaceChange, audit?: AuditRecord): Promise<Namespace>;
  /** Those of all namespaces that forbid something themselves, by path. */
  listCapturePolicies(): Promise<[path: string, policy: CapturePolicy][]>;
  /**
   * Throws `not-found`, or `precondition` while it holds runs or children. What was bound or closed on it
   * and below goes with it.
   */
  deleteNamespace(path: string, audit: AuditRecord): Promise<void>;

  /**
   * Creates the run and, where missing, its namespace. An alias that is taken in that very namespace
   * (also by a run in the trash) throws `exists`, or with `getOrCreate` returns the run that has it,
   * unchanged; aliases of two different runs throw `precondition`. The run comes light, as do those of `updateRun` and
   * `setDeleted`: where its heavy parts have more than `lightRunBytesMax` they are left out, and `leftOutBytes` is set,
   * so that answers to many writes do not fill the memory. `getRuns` has the whole.
   */
  createRun(run: Run, options: { getOrCreate: boolean }): Promise<{ run: Run; created: boolean }>;
  /**
   * Runs the reference names: at most one by id or path; by alias one per namespace, rising by namespace,
   * at most CANDIDATES_MAX, or a page of those in namespaces after `after`. Includes runs in the trash.
   * Parts in `omit` come empty, and cost nothing; with `light` heavy parts that are large are left out (see `createRun`).
   */
  findRuns(
    ref: RunRef,
    options?: { omit?: readonly HeavyPart[]; light?: boolean; page?: { after: string; limit: number } },
  ): Promise<Run[]>;
  /**
   * In the order of `ids`; unknown ids are left out. Parts in `omit` come empty, and cost nothing. Ends before
   * the run whose texts would make all of them more than `bytesMax`, but for the first; `looked` says how
   * many of the ids were looked at, always one at least where there is one. Ask again with the others, unless
   * the caller is gone: one call is over soon.
   */
  getRuns(
    ids: readonly string[],
    options: GetRuns,
    signal?: AbortSignal,
  ): Promise<{ runs: Run[]; looked: number }>;
  /**
   * Merges per key. Throws `not-found`; `exists` when an alias is taken. `nowUs` stamps the change. The record is
   * written when a field changed (core/runs/run-difference.ts), with their names as fact `fields`.
   */
  updateRun(id: string, change: RunChange, nowUs: number, audit?: AuditRecord): Promise<Run>;
  /** Into the trash (a time) or out of it (undefined). Doing it twice changes nothing, nor is it told of twice. */
  setDeleted(id: string, deletedUs: number | undefined, audit: AuditRecord): Promise<Run>;
  /**
   * Destroys the run, its ledger, its points and what was bound or closed on it. Throws `precondition`
   * unless it is in the trash.
   */
  purgeRun(id: string, audit: AuditRecord): Promise<{ points: number }>;
  /** Running runs whose writer promised heartbeats and has been silent for three become lost. Returns those. */
  expireHeartbeats(nowUs: number): Promise<{ id: string; namespace: string }[]>;

  /**
   * Applies envelopes, each as a whole or not at all, in the order given and in call order; the
   * outcomes come in the same order and one refusal does not touch the others. Per (run, writer):
   * seq = last + 1 (after the declared losses) is applied; a known seq with the same content answers
   * `duplicate`; with other content `exists` (SEQ_REUSED); beyond the next `precondition` (SEQ_GAP,
   * fact expected). A series keeps its first kind: another throws `invalid`. From the call on
   * nobody may write to the columns of `envelopes`, neither the caller nor the store: watchers may still
   * be reading them long after. Whether content is the same is judged by all of it, also by what `kept` leaves out.
   */
  append(envelopes: readonly AppendEnvelope[], nowUs: number): Promise<AppendOutcome[]>;
  /**
   * Writers by name. Reads every stored checksum of the run. What is listed of writers and their ranges ends
   * with `bytesMax`, pageBytesMax when absent; the totals are of all.
   */
  verifyRun(id: string, bytesMax?: number, signal?: AbortSignal): Promise<RunLedger>;

  /** Inserts or replaces the description of (namespace, key). The record is written when that changed something. */
  describeKey(description: KeyDescription, audit?: AuditRecord): Promise<void>;
  /**
   * Those of the namespaces, which are a namespace and ancestors of it; a nearer one hides a farther one. Rising by
   * key in code-point order, from behind `after`.
   */
  listKeys(
    namespaces: readonly string[],
    page: PartBound & { after: string | undefined },
  ): Promise<ListPart<KeyDescription>>;

  /** A small durable map for the server itself, such as the hash of the admin token. */
  getSetting(name: string): Promise<string | undefined>;
  /** Sets the value only where there is none, and returns the one that holds then. */
  initSetting(name: string, value: string): Promise<string>;

  info(): Promise<StoreInfo>;
  /** Reads everything, checks every checksum. At most PROBLEMS_MAX problems. */
  checkIntegrity(signal?: AbortSignal): Promise<{ points: number; runs: number; problems: string[] }>;
  /**
   * A consistent copy into `file`, which must not exist, while reads and writes go on. The record is durable before
   * the copy begins, and in it: no copy is made without a trace.
   */
  backup(file: string, audit?: AuditRecord): Promise<void>;
  /**
   * Replaces everything by a copy made with `backup`. Calls wait meanwhile. Followers of its journal begin from the
   * beginning. What was there in that moment is first copied into the file `keepAside`, which must not exist.
   *
   * The audit alone is not replaced: it goes on from where it is, with `audit` added. A token that was
   * revoked since the copy was made stays revoked.
   */
  restore(file: string, options: { keepAside?: string; audit: AuditRecord }): Promise<void>;
  /** Finishes what was accepted, then releases everything. Later calls throw `unavailable`. */
  close(): Promise<void>;
}

/** How many sentences about damage one answer has. */
export const PROBLEMS_MAX = 100;

/** How many runs one alias is answered with. */
export const CANDIDATES_MAX = 10;

/** Parts of a run that can be large. */
export type HeavyPart = "params" | "tags" | "notes" | "provenance";
export const HEAVY_PARTS: readonly HeavyPart[] = ["params", "tags", "notes", "provenance"];

export interface GetRuns {
  omit?: readonly HeavyPart[];
  bytesMax: number;
}

/** What changes of a namespace; absent means: leave as it is. */
export interface NamespaceChange extends Partial<CapturePolicy> {
  description?: string;
  objective?: Objective | null;
}

export interface AppendEnvelope extends Omit<Envelope, "run"> {
  runId: string;
  /** Stored instead of `log` and `artifacts`, which then count for the digest only. */
  kept?: KeptParts | undefined;
  /**
   * Who writes, for the authors of its artifacts. A change that overwrites something of a run that has ended is
   * written down with `change`, an artifact of another principal that is replaced with its record in `artifacts`.
   * Ordinary logging leaves no entry.
   */
  audit?: EnvelopeAudit | undefined;
}

export interface EnvelopeAudit {
  change: AuditRecord | undefined;
  /** One per artifact that is stored, in their order. */
  artifacts: readonly AuditRecord[];
}

export type KeptParts = Pick<Envelope, "log" | "artifacts">;

/** `position` is that of the change in the Journal; undefined when nothing changed. */
export type AppendOutcome =
  | { ok: true; ack: EnvelopeAck; position: number | undefined }
  | { ok: false; error: Error };

export interface WriterLedger {
  writer: string;
  envelopes: number;
  lastSeq: number;
  lost: SeqRange[];
  /** Missing without a declaration: only damage does that. */
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

export interface StoreInfo {
  engine: string;
  formatVersion: number;
  runs: number;
  series: number;
  points: number;
  sizeBytes: number;
}
