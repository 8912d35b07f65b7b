import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import type { SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";

/** Runs, as in SearchRuns. */
export interface RunsView {
  query: string;
  namespace: string;
  columns: readonly string[];
}

/** What a part of a page wants to hear of. */
export type Subscription =
  | ({ kind: "runs" } & RunsView)
  /** That some run has changed, whichever it is. */
  | { kind: "changes" }
  /** `glob` chooses keys as ListSeries does; empty for all. */
  | { kind: "series"; runIds: readonly string[]; glob: string }
  /** `from` is the number of the first line to hear of. */
  | { kind: "log"; runId: string; from: bigint };

export type LiveEvent =
  /** Runs that match the view now, and ids of others that have changed. */
  | { kind: "runs"; runs: Run[]; left: string[] }
  | { kind: "changes" }
  | { kind: "points"; runId: string; series: SeriesPoints[] }
  | { kind: "lines"; lines: LogLine[]; next: bigint }
  /** Something may have been missed: read again what is shown. */
  | { kind: "stale" }
  /** Nothing will come, and why. */
  | { kind: "refused"; message: string };

export type LiveState = "connecting" | "live" | "lost" | "signed-out";

export interface Connection {
  state: LiveState;
  /** When the server was last heard, by Date.now(); 0 for never. */
  heardMs: number;
}

/** From a page to what holds the stream. */
export type ToHub =
  /** What is shown was asked for at `sinceMs`, by Date.now(). */
  | { do: "add"; id: number; subscription: Subscription; sinceMs: number }
  | { do: "remove"; id: number }
  /** Try now; the session may be another, and so its key. */
  | { do: "again"; pageKey: string }
  /** Goes with the cookie of the session. */
  | { do: "key"; pageKey: string }
  | { do: "alive" }
  | { do: "bye" };

export type FromHub =
  | { tell: "event"; id: number; event: LiveEvent }
  | { tell: "connection"; connection: Connection }
  /** Nothing is known of the tab's subscriptions: it was silent for long. */
  | { tell: "forgotten" };
