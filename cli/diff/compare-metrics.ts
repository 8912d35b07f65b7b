import { SeriesKind, type SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { listKeys } from "#sdk/pages.ts";
import { isSystem, listRunSeries, seriesName } from "../show/metric-rows.ts";
import { findObjective } from "../runs/objectives.ts";

const STATS = ["last", "min", "max"] as const;
export type MetricStat = (typeof STATS)[number];

export interface MetricRow {
  /** With its labels. */
  name: string;
  stat: MetricStat;
  values: (number | undefined)[];
  direction: Direction;
  differs: boolean;
}

export interface MetricsOptions {
  /** Also what the machine did, and every statistic. */
  all: boolean;
}

/** Numbers of all runs side by side, the objective first. */
export async function compareMetrics(
  server: Cairn,
  runs: readonly Run[],
  { all }: MetricsOptions,
): Promise<MetricRow[]> {
  const { namespace } = runs[0]!;
  const [objective, keys] = await Promise.all([
    findObjective(server, namespace),
    listKeys(server, namespace),
  ]);
  const directions = new Map(keys.map(({ key, direction }) => [key, direction]));
  if (objective !== undefined) directions.set(objective.metric, objective.direction);
  const series = await Promise.all(
    runs.map(async ({ id }) =>
      (await listRunSeries(server, id, "", objective?.metric)).series.filter(isNumber),
    ),
  );
  const byName = series.map((list) => new Map(list.map((info) => [seriesName(info), info])));
  const infos = new Map(series.flat().map((info) => [seriesName(info), info]));
  return [...infos].flatMap(([name, { key }]) => {
    if (!all && isSystem(key)) return [];
    const direction = directions.get(key) ?? Direction.UNSPECIFIED;
    return statsFor(direction, all).map((stat) => {
      const values = byName.map((map) => valueOf(map.get(name), stat));
      return { name, stat, values, direction, differs: values.some((value) => !Object.is(value, values[0])) };
    });
  });
}

function isNumber({ kind }: SeriesInfo): boolean {
  return kind === SeriesKind.NUMBER || kind === SeriesKind.INTEGER;
}

/** Where it is known what is better, the best is what counts. */
function statsFor(direction: Direction, all: boolean): readonly MetricStat[] {
  if (all || direction === Direction.UNSPECIFIED) return STATS;
  return direction === Direction.MINIMIZE ? ["last", "min"] : ["last", "max"];
}

function valueOf(info: SeriesInfo | undefined, stat: MetricStat): number | undefined {
  const sample = info?.summary?.[stat];
  if (sample === undefined) return undefined;
  return info?.kind === SeriesKind.INTEGER ? Number(sample.integer) : sample.value;
}

/** Of the second to the first, where both are numbers: "better", "worse", or neither. */
export function verdictOf({ values: [a, b], direction }: MetricRow): "better" | "worse" | undefined {
  if (a === undefined || b === undefined || direction === Direction.UNSPECIFIED) return undefined;
  const gain = direction === Direction.MINIMIZE ? a - b : b - a;
  return gain > 0 ? "better" : gain < 0 ? "worse" : undefined;
}
