import type { MessagePort } from "node:worker_threads";
import type { RunStatus } from "#lang/statuses.ts";

/**
 * Runs that changed, by position of the Journal, for one who keeps them in a form of its own, such as a run index. The
 * store remembers nothing about its followers, so there may be any number of them, each as far as it is.
 */
export interface RunChanges {
  /** As `JournalReader.position`: it may be asked before every answer. No wake-up is needed, and so none can be lost. */
  position(): number;
  /**
   * A bounded part of what changed after `mark`, with the mark to go on from. It goes from the beginning, with `reset`,
   * where `mark` is undefined, of another journal, or of a position that the journal does not remember.
   *
   * Runs, summaries and models come as they are now, which may be later than the mark says. So a part may be applied twice, and
   * one who was stopped between two parts goes on from the last mark. Parts of a scan also carry what changed since the
   * mark, so that its position keeps up with the journal.
   */
  runsSince(mark: RunMark | undefined): Promise<RunFeedBatch>;
}

/** How far a follower is. Plain data, which may be kept on disk. */
export interface RunMark {
  /** Identifies the journal; not its secret, which cannot be computed from it. */
  journal: string;
  /** Every change up to here is known, as far as it does not concern what is left to scan. */
  position: number;
  /** Set while everything there is comes over: all runs by key, then all series and all models by id; this is the last one. */
  scanned?: { table: "run" | "series" | "model"; through: number } | undefined;
}

export interface RunFeedBatch {
  /** What is known once this batch has been applied. */
  mark: RunMark;
  /** Forget everything known so far. */
  reset: boolean;
  /**
   * Present with `reset`, and when a namespace may have been moved, or put into the trash or taken out of it, since the mark that was
   * asked with: all namespaces there are, as they are now. They come before `runs`. Runs that are known have the path of their namespace from then on; runs of
   * a namespace that is not among them change later.
   */
  namespaces?: NamespacePaths;
  runs: RunFeedRow[];
  /**
   * Keys of runs that are gone for good, with their series and models. A run that comes again in `runs`, with the same id,
   * has lost only series: those that it still has come with it, and its models stay.
   */
  purged: number[];
  metrics: MetricFeed | undefined;
  /** Absent where no model changed. */
  models?: ModelFeed;
}

/** Runs of a namespace that is in the trash are in the trash. */
export type NamespacePaths = readonly (readonly [id: number, path: string, isTrashed: boolean])[];

/** A run as it is now, whole. `key` is a small number the store gives it for as long as it lives. */
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
}

/**
 * Summaries of series, in columns. Entry i belongs to run `runs[i]`, metric `keys[key[i]]` and label
 * set `labels[label[i]]` ("" for none), and replaces what was known of that series.
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

/** Models that changed. Those of a run that is not known are to be passed over. */
export interface ModelFeed {
  /** Keys of models that are gone, or are artifacts of another kind now. They come before `rows`. */
  gone: number[];
  rows: ModelFeedRow[];
}

/**
 * An artifact of kind model as it is now. `key` is a number the store gives it for as long as it lives; one that is replaced gets
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

/** What is called over the port of a link. */
export type RunChangesApi = Pick<RunChanges, "runsSince">;
