import { queryOptions } from "@tanstack/react-query";
import { listKeys } from "#sdk/pages.ts";
import { cairn } from "../../data/server.ts";

/** Summary of one metric key over the runs that are shown. */
export interface KeyEntry {
  readonly key: string;
  /** How many series of it there are in all runs: more than runs where there are labels. */
  readonly seriesCount: number;
  readonly hasLabels: boolean;
  /** Points that restarts replaced. */
  readonly replacedCount: number;
}

export interface Catalogue {
  readonly entries: ReadonlyMap<string, KeyEntry>;
  /** When each run logged its first point; without those whose points have no times. */
  readonly firstTimesUs: ReadonlyMap<string, bigint>;
  /** Runs that do not exist, or that the caller may not see. */
  readonly missing: ReadonlySet<string>;
  /** A run has more series than are read. */
  readonly isCut: boolean;
}

/** The keys of all these runs together, in one call. A new key appears with its first point. */
export const catalogueOf = (runIds: readonly string[]) =>
  queryOptions({
    queryKey: ["catalogue", runIds],
    queryFn: async ({ signal }): Promise<Catalogue> => {
      if (runIds.length === 0) return NOTHING;
      const { keys, runs, truncated } = await cairn.metrics.listRunKeys(
        { runs: runIds.map((id) => ({ id })) },
        { signal },
      );
      const found = new Set(runs.map(({ runId }) => runId));
      return {
        entries: new Map(
          keys.map(({ key, seriesCount, hasLabels, replacedCount }) => [
            key,
            { key, seriesCount: Number(seriesCount), hasLabels, replacedCount: Number(replacedCount) },
          ]),
        ),
        firstTimesUs: new Map(
          runs.flatMap(({ runId, firstTimeUs }) =>
            firstTimeUs === undefined ? [] : [[runId, firstTimeUs] as const],
          ),
        ),
        missing: new Set(runIds.filter((id) => !found.has(id))),
        isCut: truncated,
      };
    },
    staleTime: 300_000,
  });

const NOTHING: Catalogue = {
  entries: new Map(),
  firstTimesUs: new Map(),
  missing: new Set(),
  isCut: false,
};

/** Descriptions of keys in a namespace; empty for one that the caller may not read. */
export const keyDescriptions = (namespace: string) =>
  queryOptions({
    queryKey: ["key-descriptions", namespace],
    queryFn: async ({ signal }) => {
      const keys = await listKeys(cairn, namespace, { signal });
      return new Map(keys.map((each) => [each.key, each]));
    },
    enabled: namespace !== "",
  });
