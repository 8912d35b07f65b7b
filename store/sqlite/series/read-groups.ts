import { CairnError, quote } from "#lang/errors.ts";
import type { Grid, ReadGroups, ReadGroupsResult } from "#core/ports/point-store.ts";
import { gridOver } from "#core/series/buckets.ts";
import { RunMeans } from "#core/series/group-means.ts";
import { GroupStatistics } from "#core/series/group-statistics.ts";
import { asNumbers, markReplaced, replacementThresholds, type SeriesState } from "#core/series/state.ts";
import type { Db } from "../file/db.ts";
import { readPieces, type CurrentSeries } from "./read-series.ts";

export interface GroupedRun {
  /** All label sets of the metric. */
  series: readonly CurrentSeries[];
  /** What its times are counted from. */
  startUs: number;
}

export function readGroups(
  db: Db,
  groups: readonly (readonly GroupedRun[])[],
  request: ReadGroups,
): ReadGroupsResult {
  const runs = groups.flat();
  const hasTexts = ({ series }: GroupedRun) => series.some(({ entry }) => entry.state.kind === "text");
  if (runs.some(hasTexts)) throw textRefusal(request.key);
  const laid = layGrid(runs, request);
  const { quantiles } = request;
  if (laid === undefined) {
    return { groups: groups.map(() => new GroupStatistics(0, 0).finish(quantiles)), grid: undefined };
  }
  const { grid, size } = laid;
  requireNumbers(groups, size, request);
  const means = new RunMeans(grid, size);
  return {
    grid,
    groups: groups.map((members) => {
      const statistics = new GroupStatistics(size, members.length);
      for (const { series, startUs } of members) {
        means.clear();
        for (const one of series) addMeans(db, one, startUs, request, means);
        statistics.add(means);
      }
      return statistics.finish(quantiles);
    }),
  };
}

function addMeans(
  db: Db,
  series: CurrentSeries,
  startUs: number,
  request: ReadGroups,
  means: RunMeans,
): void {
  const { axis } = request;
  const range = { from: request.from ?? -Infinity, to: request.to ?? Infinity };
  const thresholds = replacementThresholds(series.entry.state);
  const want = { times: false, reuse: true };
  const stored = { axis, from: moved(request.from, startUs), to: moved(request.to, startUs) };
  for (const { points, firstOrdinal } of readPieces({ db, request: stored }, series, want)) {
    const at = axis === "step" ? points.steps : since(points.times, startUs);
    const values = asNumbers(points);
    if (at === undefined || values === undefined) continue;
    means.add(at, values, range, markReplaced(points, firstOrdinal, thresholds));
  }
}

function moved(bound: number | undefined, byUs: number): number | undefined {
  return bound === undefined ? undefined : bound + byUs;
}

function since(times: Float64Array | undefined, startUs: number): Float64Array | undefined {
  return startUs === 0 ? times : times?.map((timeUs) => timeUs - startUs);
}

/** One grid for all, and how many of its buckets can hold a point. undefined when there is nothing to cover. */
function layGrid(
  runs: readonly GroupedRun[],
  { axis, from, to, buckets }: ReadGroups,
): { grid: Grid; size: number } | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const { series, startUs } of runs) {
    for (const { entry } of series) {
      const [first, last] = extentOf(entry.state, axis);
      // Comparisons with NaN are false: where there is no extent, nothing is extended.
      if (first - startUs < low) low = first - startUs;
      if (last - startUs > high) high = last - startUs;
    }
  }
  low = from ?? low;
  high = to ?? high;
  if (!(low <= high && Number.isFinite(high - low))) return undefined;
  const grid = gridOver(low, high, buckets);
  return { grid, size: grid.width === 1 ? Math.min(buckets, high - low + 1) : buckets };
}

/**
 * Where the visible points of a series lie. Of steps the summary knows that exactly; the extent of times
 * takes in replaced points as well, which mostly lie before the others anyway.
 */
function extentOf({ summary, timeMin, timeMax }: SeriesState, axis: "step" | "time"): [number, number] {
  if (axis === "time") return [timeMin, timeMax];
  return [summary.first?.step ?? NaN, summary.last?.step ?? NaN];
}

const STATISTICS = 8;

function requireNumbers(
  groups: readonly (readonly GroupedRun[])[],
  size: number,
  { quantiles, meansMax, numbersMax }: ReadGroups,
): void {
  const answer = groups.length * size * (STATISTICS + quantiles.length);
  const hint = "ask for fewer buckets, runs, groups or quantiles";
  if (answer > numbersMax) {
    const instead = meansMax > numbersMax ? ", or columns as bytes over binary protobuf instead of JSON" : "";
    throw tooMany(`${answer} numbers`, numbersMax, hint + instead);
  }
  const largest = groups.reduce((most, runs) => Math.max(most, runs.length), 0) * size;
  if (largest > meansMax) throw tooMany(`a group of ${largest} means (runs by buckets)`, meansMax, hint);
}

export function tooManySeries({ key, seriesMax }: ReadGroups): CairnError {
  return tooMany(`the label sets of metric ${quote(key)}`, seriesMax, "ask for fewer runs, or one label set");
}

function tooMany(what: string, max: number, hint: string): CairnError {
  return new CairnError("exhausted", `cannot read groups: ${what} are more than ${max}`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(max) },
    hint,
  });
}

function textRefusal(key: string): CairnError {
  return new CairnError("invalid", `cannot read groups of metric ${quote(key)}: a run has texts in it`, {
    reason: "KIND_MISMATCH",
    hint: "only numbers, integers and bools have statistics",
  });
}
