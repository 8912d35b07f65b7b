import { authorize, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { Run } from "../types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
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
 * The scope of an artifact, which need not exist, if the caller may do to it what the call declares.
 * An artifact that is closed to the caller is not found, as one that does not exist; one that was opened to it
 * alone is found though its run is not. `missing` is the error of the call for a missing one.
 */
export async function locateArtifact(
  runs: RunStore,
  caller: Caller,
  ref: RunRef,
  name: string,
  missing: (runId: string) => CairnError = (runId) => missingArtifact(runId, name, undefined),
): Promise<ArtifactScope> {
  const { isHidden, ...scope } = await seekArtifact(runs, caller, ref, name);
  if (isHidden) throw missing(scope.runId);
  return scope;
}

/** The same for a call that has an answer for a missing name: a hidden one must get the same answer. */
export async function seekArtifact(
  runs: RunStore,
  caller: Caller,
  ref: RunRef,
  name: string,
): Promise<ArtifactScope & { isHidden: boolean }> {
  const found = await runs.findRuns(checkedRef(ref), { omit: HEAVY_PARTS });
  const shared = found.filter((run) => maySee(caller, scopeOf(run, name)));
  const ofHiddenRun = shared.length === 1 && !maySee(caller, runScopeOf(shared[0]!));
  const run =
    ref.by !== "alias" && ofHiddenRun
      ? shared[0]!
      : await chooseRun({ ...caller, permission: "read" }, ref, found, runs);
  const scope = scopeOf(run, name);
  const isHidden = !maySee(caller, scope);
  // Without the right to do this to the run the answer says so, whether the artifact is hidden or missing.
  authorize(caller, isHidden ? runScopeOf(run) : scope);
  return { ...scope, isHidden };
}

/** The same whether there is none or the caller may not see it. */
export function missingArtifact(runId: string, name: string, step: number | undefined): CairnError {
  const at = step === undefined ? "" : ` at step ${step}`;
  return new CairnError("not-found", `cannot find artifact ${quote(name)}${at} of run ${quote(runId)}`);
}

/** Of one that was replaced or deleted. */
export function missingVersion(runId: string, name: string, version: number): CairnError {
  return new CairnError(
    "not-found",
    `cannot find version ${version} of artifact ${quote(name)} of run ${quote(runId)}`,
    { hint: "ListArtifacts with replaced lists the versions that are kept" },
  );
}

function runScopeOf({ id, namespace }: Run) {
  return { namespace, runId: id };
}

function scopeOf(run: Run, artifact: string): ArtifactScope {
  return { ...runScopeOf(run), artifact };
}
