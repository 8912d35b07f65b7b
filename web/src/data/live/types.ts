import type { LogLine } from "#proto/cairn/v1/log_pb.ts";
import type { SeriesPoints } from "#proto/cairn/v1/metric_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";

/** Runs, as in SearchRuns. */
export interface RunsView {
  query: string;
  namespace: string;
  columns: readonly string[];
}

/** What a part of a page subscribes to. */
export type Subscription =
  | ({ kind: "runs" } & RunsView)
  /** A change of any run. */
  | { kind: "changes" }
  | { kind: "series"; runIds: readonly string[] }
  /** `from` is the number of the first line. */
  | { kind: "log"; runId: string; from: bigint };

export type LiveEvent =
  /** Runs that match the view now, and ids of other changed runs. */
  | { kind: "runs"; runs: Run[]; left: string[] }
  | { kind: "changes" }
  | { kind: "points"; runId: string; series: SeriesPoints[] }
  | { kind: "lines"; lines: LogLine[]; next: bigint }
  /** Changes may have been missed: read the shown data again. */
  | { kind: "stale" }
  /** The subscription failed, with the reason. */
  | { kind: "refused"; message: string };

export type LiveState = "connecting" | "live" | "lost" | "signed-out";

export interface Connection {
  state: LiveState;
  /** When the last message of the server arrived, by Date.now(); 0 for never. */
  heardMs: number;
}

/** From a page to the holder of the stream. */
export type ToHub =
  /** `since` are the positions of the shown answers, none if these are unknown. */
  | { do: "add"; id: number; subscription: Subscription; since: readonly string[] }
  | { do: "remove"; id: number }
  /** Connect now; the session, and so its key, may have changed. */
  | { do: "again"; pageKey: string }
  /** Sent with the cookie of the session. */
  | { do: "key"; pageKey: string }
  | { do: "alive" }
  | { do: "bye" };

export type FromHub =
  | { kind: "event"; id: number; event: LiveEvent }
  | { kind: "connection"; connection: Connection }
  /** The subscriptions of the tab were removed, because it was silent for long. */
  | { kind: "forgotten" };
