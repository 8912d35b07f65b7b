import { authorize, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "../errors.ts";
import type { Run, RunRef } from "../model/run.ts";
import { HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";
import { checkedRef, chooseRun, findRun } from "../runs/choose-run.ts";

/** Where an artifact is for the rules of access. */
export interface ArtifactScope {
  namespace: string;
  runId: string;
  artifact: string;
}

/** The run, if the caller may do to it what the call declares. */
export function locateRun(runs: RunStore, caller: Caller, ref: RunRef): Promise<Run> {
  return findRun(caller, ref, runs);
}

/**
 * The scope of an artifact that may be there or not, if the caller may do to it what the call declares.
 * An artifact that is closed to the caller is not found, as one that does not exist; one that was opened to it
 * alone is found though its run is not. `step` is the one that is asked for, which a refusal names.
 */
export async function locateArtifact(
  runs: RunStore,
  caller: Caller,
  ref: RunRef,
  name: string,
  step?: number,
): Promise<ArtifactScope> {
  const found = await runs.findRuns(checkedRef(ref), { omit: HEAVY_PARTS });
  const shared = found.filter((run) => maySee(caller, scopeOf(run, name)));
  const hidden = shared.length === 1 && !maySee(caller, runScopeOf(shared[0]!));
  const run =
    ref.by !== "alias" && hidden
      ? shared[0]!
      : await chooseRun({ ...caller, permission: "read" }, ref, found, runs);
  const scope = scopeOf(run, name);
  if (!maySee(caller, scope)) throw missingArtifact(run.id, name, step);
  authorize(caller, scope);
  return scope;
}

/** The same whether there is none or the caller may not see it. */
export function missingArtifact(runId: string, name: string, step: number | undefined): CairnError {
  const at = step === undefined ? "" : ` at step ${step}`;
  return new CairnError("not-found", `cannot find artifact ${quote(name)}${at} of run ${quote(runId)}`);
}

function runScopeOf({ id, namespace }: Run) {
  return { namespace, runId: id };
}

function scopeOf(run: Run, artifact: string): ArtifactScope {
  return { ...runScopeOf(run), artifact };
}
