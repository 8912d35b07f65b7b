import type { KeyDescription } from "#proto/cairn/v1/key_pb.ts";
import type { Smoothing } from "#lang/smooth.ts";
import type { XKind } from "../../charts/paint/frame.ts";
import type { Reduction } from "../../charts/lines/reduce.ts";
import type { Watched } from "../../charts/watched.ts";
import type { ChartGroup, ChartRun } from "./lines/chart-lines.ts";
import type { Grouping } from "./search.ts";

/** The shared settings of all charts of a panel. Replaced only when they change. */
export interface PanelView {
  readonly runs: readonly ChartRun[];
  /** Sorted, so that another order of the same runs is the same query. */
  readonly runIds: readonly string[];
  /** Whether everything is loaded that a read needs, such as the start of each run. */
  readonly isReady: boolean;
  readonly groups: readonly ChartGroup[];
  readonly grouping: Grouping | undefined;
  readonly labels: Reduction | "heat" | undefined;
  readonly xKind: XKind;
  /** The metric along the x axis; only for the kind "metric". */
  readonly xKey: string | undefined;
  readonly range: readonly [number, number] | undefined;
  /** The part of y that is shown, by key; the others show everything. */
  readonly yRanges: ReadonlyMap<string, readonly [number, number]>;
  readonly log: boolean;
  readonly clip: boolean;
  /** Whether points that restarts replaced are drawn, too. */
  readonly rewound: boolean;
  readonly smoothing: Smoothing;
  readonly baseline: string | undefined;
  readonly dark: boolean;
  /** Where times since the start of each run begin. */
  readonly startsUs: ReadonlyMap<string, number>;
  /** Of the descriptions; empty where there is none for all runs. */
  readonly namespace: string;
  readonly descriptions: ReadonlyMap<string, KeyDescription> | undefined;
  readonly cursor: Watched<number | undefined>;
  /** The range of all charts while one of them is moved. */
  readonly moving: Watched<readonly [number, number] | undefined>;
  /** Of a chart, in pixels. */
  readonly chartWidth: number;
  onZoom(range: readonly [number, number]): void;
  onZoomY(key: string, range: readonly [number, number]): void;
  /** Everything of x, and of y of this chart. */
  onReset(key: string): void;
  onX(x: "time" | undefined): void;
}

/**
 * The x axis of charts. Groups are computed by the server, which does not support another metric as x: they use steps
 * then, unzoomed.
 */
export function axisOf({ xKind, range, grouping }: PanelView): Pick<PanelView, "xKind" | "range"> {
  if (xKind === "metric" && grouping !== undefined) return { xKind: "step", range: undefined };
  return { xKind, range };
}

const BUCKETS_PER_PIXEL = 2;
const BUCKETS_MIN = 100;
/** Of all lines of one chart together: what a browser still draws without a noticeable delay. */
const BUCKETS_TOTAL_MAX = 12_000;
/** Rounds the width, so that slightly different charts make the same query. */
const WIDTH_STEP_PX = 64;

export function bucketsFor(widthPx: number, lineCount: number): number {
  const width = Math.max(1, Math.ceil(widthPx / WIDTH_STEP_PX)) * WIDTH_STEP_PX;
  const fair = Math.floor(BUCKETS_TOTAL_MAX / Math.max(1, lineCount));
  return Math.max(BUCKETS_MIN, Math.min(width * BUCKETS_PER_PIXEL, fair));
}
