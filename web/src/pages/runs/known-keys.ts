import { queryOptions } from "@tanstack/react-query";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { listKeys } from "#sdk/pages.ts";
import { cairn } from "../../data/server.ts";
import { inferKeys, type KnownKeys } from "./infer-keys.ts";

const SAMPLE_RUNS = 200;
/** Runs whose metrics are listed: the newest, and some spread over the sample. */
const LISTED_RUNS = 12;
const SERIES_MAX = 1_000;

/** What there is to choose from in a namespace, from a sample of its newest runs and from what its keys are described as. */
export const knownKeys = (namespace: string) =>
  queryOptions({
    queryKey: ["known-keys", namespace],
    staleTime: 60_000,
    queryFn: async ({ signal }): Promise<KnownKeys> => {
      const [found, recorded, described, spaces] = await Promise.all([
        cairn.runs.searchRuns({ namespace, pageSize: SAMPLE_RUNS, columns: ["params", "tags"] }, { signal }),
        // Patches can be long: a few runs tell what an environment holds.
        cairn.runs.searchRuns({ namespace, pageSize: LISTED_RUNS, columns: ["provenance"] }, { signal }),
        // The root describes nothing and is judged by nothing.
        namespace === "" ? Promise.resolve([]) : listKeys(cairn, namespace, { signal }),
        namespace === ""
          ? Promise.resolve(undefined)
          : cairn.namespaces.getNamespace({ path: namespace }, { signal }),
      ]);
      const listed = spread(found.runs, LISTED_RUNS).map(({ id }) => ({ id }));
      const [objective, { keys }] = await Promise.all([
        spaces?.objective ?? inheritedObjective(namespace, signal),
        cairn.metrics.listRunKeys({ runs: listed, seriesPerRun: SERIES_MAX }, { signal }),
      ]);
      return inferKeys({
        runs: found.runs,
        environments: recorded.runs.map(({ provenance }) => provenance?.environment ?? {}),
        metrics: keys.map(({ key, runCount }) => ({ key, runCount: Number(runCount) })),
        described: described.map(({ key, direction }) => ({ key, direction })),
        objective:
          objective === undefined
            ? undefined
            : { metric: objective.metric, isMinimized: objective.direction === Direction.MINIMIZE },
      });
    },
  });

function spread(runs: readonly Run[], count: number): Run[] {
  const step = Math.max(1, runs.length / count);
  return Array.from({ length: Math.min(count, runs.length) }, (_, i) => runs[Math.floor(i * step)]!);
}

/** The nearest above that has one and may be read. */
async function inheritedObjective(namespace: string, signal: AbortSignal) {
  const names = namespace.split("/");
  const above = names.slice(1).map((_, i) => names.slice(0, names.length - 1 - i).join("/"));
  const spaces = await Promise.all(
    above.map((path) => cairn.namespaces.getNamespace({ path }, { signal }).catch(() => undefined)),
  );
  return spaces.find((space) => space?.objective !== undefined)?.objective;
}
