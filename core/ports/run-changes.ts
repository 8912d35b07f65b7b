import type { MessagePort } from "node:worker_threads";
import type { SearchableProvenance } from "#lang/query/provenance-fields.ts";
import type { RunStatus } from "#lang/statuses.ts";

/**
 * Runs that changed, by position of the Journal, for a follower that keeps them in a form of its own, such as a run index.
 * The store remembers nothing about its followers, so there may be any number of them, each with its own position.
 */
export interface RunChanges {
  /** As `JournalReader.position`: it may be read before every answer. No wake-up is needed, and so none can be lost. */
  position(): number;
  /**
   * A bounded part of what changed after `mark`, with the mark to continue from. It starts from the beginning, with `reset`,
   * where `mark` is undefined, of another journal, or of a position that the journal does not remember.
   *
   * Runs, summaries and models are in their current state, which may be later than the mark. So a part may be applied twice,
   * and a follower that was stopped between two parts resumes from the last mark. Parts of a scan also carry what changed since the
   * mark, so that its position keeps up with the journal.
   */
  runsSince(mark: RunMark | undefined): Promise<RunFeedBatch>;
}

/** The progress of a follower. Plain data, which may be stored on disk. */
export interface RunMark {
  /** Identifies the journal; not its secret, which cannot be computed from it. */
  journal: string;
  /** Every change up to here is known, except in the part that is left to scan. */
  position: number;
  /** Set during a scan of everything: all runs by key, then all series and all models by id; this is the last one. */
  scanned?: { table: "run" | "series" | "model"; through: number } | undefined;
}

export interface RunFeedBatch {
  /** What is known once this batch has been applied. */
  mark: RunMark;
  /** Drop everything known so far. */
  reset: boolean;
  /**
   * Present with `reset`, and when a namespace may have been moved, or put into the trash or taken out of it, since the mark that was
   * asked with: all namespaces there are, as they are now. They come before `runs`. Runs that are known have the path of their namespace from then on; runs of
   * a namespace that is not among them change later.
   */
  namespaces?: NamespacePaths;
  runs: RunFeedRow[];
  /**
   * Keys of purged runs, to be dropped with their series and models. A run that is again in `runs`, with the same id,
   * has lost only series: those that it still has are in this batch, and its models stay.
   */
  purged: number[];
  metrics: MetricFeed | undefined;
  /** Absent where no model changed. */
  models?: ModelFeed;
}

/** Runs of a namespace that is in the trash are in the trash. */
export type NamespacePaths = readonly (readonly [id: number, path: string, isTrashed: boolean])[];

/** The current state of a run, complete. `key` is a small number that the store assigns for the life of the run. */
export interface RunFeedRow {
  key: number;
  id: string;
  /** Its path; the id stays when that changes. */
  namespace: string;
  namespaceId: number;
  name: string;
  status: RunStatus;
  notes: string;
  aliases: readonly string[];
  /** JSON text: an object of all params. */
  params: string;
  tags: readonly (readonly [string, string])[];
  createdUs: number;
  startedUs: number | undefined;
  endedUs: number | undefined;
  updatedUs: number;
  /** When it was put into the trash by itself. */
  deletedUs: number | undefined;
  creator: string;
  searchable: SearchableProvenance | undefined;
}

/**
 * Summaries of series, in columns. Entry i belongs to run `runs[i]`, metric `keys[key[i]]` and label
 * set `labels[label[i]]` ("" for none), and replaces the known summary of that series.
 */
export interface MetricFeed {
  keys: string[];
  labels: string[];
  runs: Float64Array;
  key: Uint32Array;
  label: Uint32Array;
  /** METRIC_FEED_STATS numbers per entry: count, nan count, first, last, min, max, sum, and the steps of last, min and max. */
  stats: Float64Array;
}

export const METRIC_FEED_STATS = 10;

/** Models that changed. Those of an unknown run are to be skipped. */
export interface ModelFeed {
  /** Keys of models that were deleted, or now have another kind. To be applied before `rows`. */
  gone: number[];
  rows: ModelFeedRow[];
}

/**
 * The current state of an artifact of kind model. `key` is a number that the store assigns for its life; a replacement gets
 * another key.
 */
export interface ModelFeedRow {
  key: number;
  /** Key of its run. */
  run: number;
  name: string;
  step: number | undefined;
  sizeBytes: number | undefined;
  createdUs: number;
}

/**
 * RunChanges for another thread: `runsSince` is called over the port (base/threads/worker-call.ts; errors cross as
 * lang/errors.ts writes them), the position is a base/threads/shared-number.ts. The bytes do not pass through the
 * thread that serves requests. When the store closes, it closes the port.
 */
export interface RunChangesLink {
  port: MessagePort;
  position: SharedArrayBuffer;
}

/** The calls over the port of a link. */
export type RunChangesApi = Pick<RunChanges, "runsSince">;
