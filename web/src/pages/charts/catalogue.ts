import { Code } from "@connectrpc/connect";
import { queryOptions } from "@tanstack/react-query";
import type { SeriesInfo } from "#proto/cairn/v1/metric_pb.ts";
import { Picture, type KeyDescription } from "#proto/cairn/v1/metric_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { Failure } from "#sdk/failure.ts";
import { queryClient } from "../../data/queries.ts";
import { cairn } from "../../data/server.ts";
import { inTurns } from "./in-turns.ts";

/** What is known of one metric key over the runs that are shown. */
export interface KeyEntry {
  readonly key: string;
  /** How many series of it there are in all runs: more than runs where there are labels. */
  seriesCount: number;
  hasLabels: boolean;
  /** Points that restarts replaced. */
  replacedCount: number;
}

export interface Catalogue {
  readonly entries: ReadonlyMap<string, KeyEntry>;
  /** When each run logged its first point, for times relative to it. */
  readonly startsUs: ReadonlyMap<string, number>;
  /** Runs that are gone, or that the caller may not see. */
  readonly missing: ReadonlySet<string>;
  /** Some run has more series than are looked at. */
  readonly isCut: boolean;
}

interface RunSeries {
  readonly runId: string;
  readonly series: readonly KeyOfRun[];
  readonly startUs: number | undefined;
  readonly isCut: boolean;
  readonly isMissing: boolean;
}

interface KeyOfRun {
  readonly key: string;
  seriesCount: number;
  hasLabels: boolean;
  replacedCount: number;
}

const PAGE_SIZE = 10_000;
/** A run may have a million series; charts are made of the first so many. */
const SERIES_PER_RUN_MAX = 50_000;
const CALLS_AT_ONCE = 6;

async function listRun(runId: string, signal: AbortSignal): Promise<RunSeries> {
  const series = new Map<string, KeyOfRun>();
  let startUs: number | undefined;
  let seen = 0;
  let pageToken = "";
  do {
    const page = await cairn.metrics.listSeries(
      { run: { id: runId }, pageSize: PAGE_SIZE, pageToken },
      { signal },
    );
    for (const info of page.series) {
      seen++;
      const first = info.summary?.first?.timeUs;
      if (first !== undefined) startUs = Math.min(startUs ?? Infinity, Number(first));
      addKey(series, info);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "" && seen < SERIES_PER_RUN_MAX);
  return { runId, series: [...series.values()], startUs, isCut: pageToken !== "", isMissing: false };
}

/** A run that is gone has no series; the others are shown all the same. */
async function listIfThere(runId: string, signal: AbortSignal): Promise<RunSeries> {
  try {
    return await listRun(runId, signal);
  } catch (thrown) {
    if (Failure.from(thrown).code !== Code.NotFound) throw thrown;
    return { runId, series: [], startUs: undefined, isCut: false, isMissing: true };
  }
}

function addKey(series: Map<string, KeyOfRun>, { key, labels, summary }: SeriesInfo): void {
  const replacedCount = Number(summary?.replacedCount ?? 0n);
  const hasLabels = Object.keys(labels).length > 0;
  const known = series.get(key);
  if (known === undefined) series.set(key, { key, seriesCount: 1, hasLabels, replacedCount });
  else {
    known.replacedCount += replacedCount;
    known.seriesCount++;
    known.hasLabels ||= hasLabels;
  }
}

const runSeries = (runId: string) =>
  queryOptions({
    queryKey: ["run-series", runId],
    queryFn: ({ signal }) => listIfThere(runId, signal),
    // A new key is heard of with its first point.
    staleTime: 300_000,
  });

/** The keys of all these runs together. Runs that were asked before are not asked again. */
export const catalogueOf = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["catalogue", runIds],
    queryFn: async () =>
      joinSeries(await inTurns(runIds, CALLS_AT_ONCE, (id) => queryClient.fetchQuery(runSeries(id)))),
  });

function joinSeries(runs: readonly RunSeries[]): Catalogue {
  const entries = new Map<string, KeyEntry>();
  const startsUs = new Map<string, number>();
  for (const { runId, series, startUs } of runs) {
    if (startUs !== undefined) startsUs.set(runId, startUs);
    for (const { key, seriesCount, hasLabels, replacedCount } of series) {
      const entry = entries.get(key);
      if (entry === undefined) entries.set(key, { key, seriesCount, hasLabels, replacedCount });
      else {
        entry.seriesCount += seriesCount;
        entry.replacedCount += replacedCount;
        entry.hasLabels ||= hasLabels;
      }
    }
  }
  const missing = new Set(runs.filter(({ isMissing }) => isMissing).map(({ runId }) => runId));
  return { entries, startsUs, missing, isCut: runs.some(({ isCut }) => isCut) };
}

/** What keys mean in a namespace. One that the caller may not read has none. */
export const keyDescriptions = (namespace: string) =>
  queryOptions({
    queryKey: ["key-descriptions", namespace],
    queryFn: async ({ signal }) => {
      const { keys } = await cairn.metrics.listKeys({ namespace }, { signal });
      return new Map(keys.map((each) => [each.key, each]));
    },
    enabled: namespace !== "",
  });

/** What a description says about how a key is drawn. */
export function drawingOf(description: KeyDescription | undefined) {
  return {
    unit: description?.unit ?? "",
    fixedY: description?.picture === Picture.ACCURACY ? UNIT_RANGE : undefined,
    order: description?.direction === Direction.MINIMIZE ? ("rising" as const) : ("falling" as const),
  };
}

const UNIT_RANGE = [0, 1] as const;
