import { Lineage, type LineageLink, type LineageRun, type TrackerBase } from "./api.ts";
import { inParallel } from "#base/in-parallel.ts";

/** The rest is cut off, and the lineage is marked as such. */
const RUNS_MAX = 10_000;
const CALLS_AT_ONCE = 8;

/**
 * The lineage of a run from nothing but `sources()`, `runIds({ parentRunId })` and `artifacts()`, for trackers that
 * cannot ask for it at once: level by level in both directions. Each run is reached once, by the shortest way, also
 * in a cycle.
 */
export async function walkLineage(
  tracker: Pick<TrackerBase, "sources" | "runIds" | "artifacts">,
  runId: string,
  { runsMax = RUNS_MAX }: { runsMax?: number } = {},
): Promise<Lineage> {
  const asked = new Map<string, Promise<LineageLink[]>>();
  const linksFrom = (id: string): Promise<LineageLink[]> => {
    const links =
      asked.get(id) ??
      tracker
        .sources(id)
        .then((sources) =>
          sources.map(({ sourceRunId, artifactName }) => ({ runId: id, sourceRunId, artifactName })),
        );
    asked.set(id, links);
    return links;
  };
  const up = await reach(runId, runsMax, async (id) => (await linksFrom(id)).map((link) => link.sourceRunId));
  const down = await reach(runId, runsMax, (id) => tracker.runIds({ parentRunId: id }));
  const members = new Set([runId, ...up.distances.keys(), ...down.distances.keys()]);
  const found = await inParallel([...members], CALLS_AT_ONCE, linksFrom);
  const links = found.flat().filter((link) => members.has(link.sourceRunId));
  const describe = ([id, distance]: [string, number]) => described(tracker, id, distance, links);
  return new Lineage({
    ancestors: await inParallel([...up.distances], CALLS_AT_ONCE, describe),
    descendants: await inParallel([...down.distances], CALLS_AT_ONCE, describe),
    links,
    artifacts: await tracker.artifacts(runId),
    truncated: up.truncated || down.truncated,
  });
}

interface Reached {
  /** Nearest first, without the run itself. */
  distances: Map<string, number>;
  truncated: boolean;
}

async function reach(
  start: string,
  runsMax: number,
  next: (runId: string) => Promise<readonly string[]>,
): Promise<Reached> {
  const distances = new Map<string, number>();
  let level = [start];
  for (let distance = 1; level.length > 0; distance++) {
    const ids = (await inParallel(level, CALLS_AT_ONCE, next)).flat();
    level = [];
    for (const id of ids) {
      if (id === start || distances.has(id)) continue;
      if (distances.size >= runsMax) return { distances, truncated: true };
      distances.set(id, distance);
      level.push(id);
    }
  }
  return { distances, truncated: false };
}

/** With the artifacts that links name. */
async function described(
  tracker: Pick<TrackerBase, "artifacts">,
  runId: string,
  distance: number,
  links: readonly LineageLink[],
): Promise<LineageRun> {
  const names = new Set(
    links.flatMap((link) =>
      link.sourceRunId === runId && link.artifactName !== null ? link.artifactName : [],
    ),
  );
  if (names.size === 0) return { runId, distance, artifacts: [] };
  const all = await tracker.artifacts(runId);
  return { runId, distance, artifacts: [...names].flatMap((name) => all.get(name) ?? []) };
}
