import { authorizeCall, type Caller } from "../access/caller.ts";
import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { SeriesOwner, SeriesScope } from "../ports/point-store.ts";
import type { Runs } from "../runs/runs.ts";
import { requireAtMost } from "../types/check.ts";

/** Where a caller selects series: in runs, or in all that it may read in a namespace and below. */
export type Among = { runs: readonly RunRef[] } | { under: string };

/** What of it the caller may read. Throws `not-found` for a run that is not there, or not to be seen. */
export async function scopeOf(caller: Caller, among: Among, runs: Runs): Promise<SeriesScope> {
  if ("under" in among) {
    authorizeCall(caller);
    const under = parseNamespace(among.under, { root: true });
    return { under, readable: caller.rights.readable() };
  }
  requireAtMost(among.runs.length, limits.selectRunsMax, "runs whose series are selected");
  const owners = new Map<string, SeriesOwner>();
  for (const ref of among.runs) {
    const runId = await runs.locate(caller, ref);
    owners.set(runId, { runId });
  }
  return { owners: [...owners.values()] };
}
