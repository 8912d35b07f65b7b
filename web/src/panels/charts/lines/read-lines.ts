import { Axis, type ReadSeriesResponse } from "#proto/cairn/v1/metric_pb.ts";
import { labelsText } from "#sdk/series.ts";
import type { XKind } from "../../../charts/paint/frame.ts";
import type { Points } from "../../../charts/lines/line.ts";
import { cairn } from "../../../data/server.ts";
import { inParallel } from "#base/in-parallel.ts";
import { seriesPoints } from "./series-points.ts";

/** The points of one series of one run. */
export interface ReadPoints {
  readonly runId: string;
  /** Such as rank=3; empty without labels. */
  readonly label: string;
  readonly points: Points;
}

export interface ReadRequest {
  readonly key: string;
  readonly runIds: readonly string[];
  readonly hasLabels: boolean;
  readonly xKind: XKind;
  readonly range: readonly [number, number] | undefined;
  readonly buckets: number;
  readonly startsUs: ReadonlyMap<string, number>;
  /** Only points that restarts replaced. */
  readonly onlyReplaced?: boolean;
}

const CALLS_AT_ONCE = 4;
/** More than the visible part, so that a line does not end just before the edge. */
const MARGIN = 0.02;

/** One call for all runs; for times relative to the start of each run one call per run, because each has a range of its own. */
export async function readLines(request: ReadRequest, signal: AbortSignal): Promise<ReadPoints[]> {
  const { xKind, runIds, startsUs } = request;
  if (xKind !== "relative") return readTogether(request, runIds, 0, signal);
  const answers = await inParallel(runIds, CALLS_AT_ONCE, (id) =>
    readTogether(request, [id], startsUs.get(id) ?? 0, signal),
  );
  return answers.flat();
}

async function readTogether(
  { key, hasLabels, xKind, range, buckets, onlyReplaced = false }: ReadRequest,
  runIds: readonly string[],
  originUs: number,
  signal: AbortSignal,
): Promise<ReadPoints[]> {
  const axis = xKind === "step" ? Axis.STEP : Axis.TIME;
  const answer = await cairn.metrics.readSeries(
    {
      series: runIds.map((id) => ({ run: { id }, key, allLabels: hasLabels })),
      axis,
      buckets,
      onlyReplaced,
      ...boundsOf(range, originUs),
    },
    { signal },
  );
  return pointsOf(answer, axis, originUs);
}

export function boundsOf(range: readonly [number, number] | undefined, originUs: number) {
  if (range === undefined) return {};
  const room = (range[1] - range[0]) * MARGIN;
  const whole = (value: number): bigint =>
    BigInt(Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, value)));
  return {
    from: whole(Math.floor(range[0] - room + originUs)),
    to: whole(Math.ceil(range[1] + room + originUs)),
  };
}

function pointsOf(answer: ReadSeriesResponse, axis: Axis, originUs: number): ReadPoints[] {
  return answer.series.map((data) => ({
    runId: data.runId,
    label: labelsText(data.labels),
    points: seriesPoints(data, axis, answer, originUs),
  }));
}
