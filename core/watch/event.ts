import type { LogFilter, LogLine } from "../types/log.ts";
import type { Query } from "#lang/query/ast.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { Labels, Points } from "../types/series.ts";
import type { FoundRun } from "../runs/found-runs.ts";

/** What a client subscribes to. */
export interface WatchRequest {
  /** As in a search; undefined when no runs are watched. */
  runs: { query: string | Query; namespace: string; columns: readonly string[] } | undefined;
  /** A glob of keys; "" for all. */
  series: readonly { run: RunRef; glob: string }[];
  /** From a line's number on; undefined for new lines only. */
  logs: readonly { run: RunRef; filter: LogFilter; from: number | undefined }[];
  /** Of an earlier event, to continue after it, or of a read; "" to begin now. */
  position: string;
  /** Of reads: it begins at the earliest of these and `position`. */
  since: readonly string[];
}

export type WatchedKind = "runs" | "series" | "logs";

/** `position` is where to continue after the event. */
export type WatchEvent = { position: string } & WatchNews;

export type WatchNews =
  | { kind: "started" }
  | RunsNews
  | PointsNews
  /** `next` is where to continue reading; there may be no lines when only that is sent. */
  | { kind: "lines"; runId: string; lines: readonly LogLine[]; next: number }
  | { kind: "behind"; what: readonly WatchedKind[] }
  | { kind: "still" };

export interface RunsNews {
  kind: "runs";
  runs: readonly FoundRun[];
  /** Ids of runs that changed and do not match. */
  left: readonly string[];
}

export interface PointsNews {
  kind: "points";
  runId: string;
  series: readonly AddedPoints[];
}

/** Points of one series in pieces, which are to be read one after another. All have the same columns. */
export interface AddedPoints {
  key: string;
  labels: Labels;
  pieces: Points[];
}
