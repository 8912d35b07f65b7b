import { maySee, type Caller } from "../access/caller.ts";
import type { RunSearch } from "../ports/run-search.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { readRuns } from "../lists/read-runs.ts";
import { bestStat } from "./better.ts";
import type { HeldObjective } from "./objectives.ts";

/** The run that has the best value of an objective. */
export interface BestRun {
  readonly runId: string;
  readonly runName: string;
  readonly value: number;
  /** At which the run had the value; undefined for a metric without steps. */
  readonly step: number | undefined;
}

/** Of each namespace and below it, by the objective that applies there; namespaces without such a run are left out. */
export async function findBestRuns(
  { store, search }: { store: RunStore; search: RunSearch },
  caller: Caller,
  held: ReadonlyMap<string, HeldObjective>,
): Promise<Map<string, BestRun>> {
  const paths = [...held.keys()];
  const goals = Array.from(held, ([under, { metric, direction }]) => ({
    under,
    key: metric,
    stat: bestStat(direction),
  }));
  const request = { readable: caller.rights.readable(), goals };
  const found = await search.best(request, caller.signal);
  const ids = new Set(found.flatMap((one) => one?.id ?? []));
  const names = new Map<string, string>();
  for await (const { id, name, namespace } of readRuns(store, [...ids], HEAVY_PARTS, caller.signal)) {
    if (maySee(caller, { namespace, runId: id })) names.set(id, name);
  }
  const best = new Map<string, BestRun>();
  for (const [i, one] of found.entries()) {
    const runName = one && names.get(one.id);
    // Purged, or moved out of sight, between the search and now.
    if (runName === undefined) continue;
    best.set(paths[i]!, { runId: one!.id, runName, value: one!.value, step: one!.step });
  }
  return best;
}
