import { authorize, authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireText } from "../types/check.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Run } from "../types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { CANDIDATES_MAX, HEAVY_PARTS, type RunStore } from "../ports/run-store.ts";

/** Runs the caller may not see are skipped, so more are read at once than are ever shown. */
const FURTHER_CANDIDATES = 100;

const FACT_LENGTH_MAX = 64;

export function checkedRef(ref: RunRef): RunRef {
  if (ref.by !== "alias") return ref;
  return {
    by: "alias",
    alias: requireText(ref.alias, limits.aliasBytesMax, "alias"),
    namespace: parseNamespace(ref.namespace, { root: true }),
  };
}

/**
 * The one run that the reference names for this caller, if it may do to it what the call declares. `first`
 * is what the store returns for the reference; further candidates are read without their heavy parts. A run
 * that the caller may not see does not exist for it: it is not a candidate and does not block one.
 */
export async function chooseRun(
  caller: Caller,
  ref: RunRef,
  first: readonly Run[],
  store: RunStore,
): Promise<Run> {
  const isSeen = ({ id, namespace }: Run) => maySee(caller, { namespace, runId: id });
  const found = first.filter(isSeen);
  let page = first;
  let pageMax = CANDIDATES_MAX;
  while (found.length < CANDIDATES_MAX && page.length === pageMax) {
    const after = page.at(-1)!.namespace;
    pageMax = FURTHER_CANDIDATES;
    page = await store.findRuns(checkedRef(ref), { omit: HEAVY_PARTS, page: { after, limit: pageMax } });
    found.push(...page.filter(isSeen));
  }
  if (found.length === 0) throw missingRun(caller, ref);
  if (found.length > 1) throw ambiguous(ref, found.slice(0, CANDIDATES_MAX));
  const run = found[0]!;
  authorize(caller, { namespace: run.namespace, runId: run.id });
  return run;
}

/** The same for a reference that was not looked up yet; returned without its heavy parts. */
export async function findRun(caller: Caller, ref: RunRef, store: RunStore): Promise<Run> {
  return chooseRun(caller, ref, await store.findRuns(checkedRef(ref), { omit: HEAVY_PARTS }), store);
}

/**
 * The same whether the run is missing or the caller may not see it. A caller that lacks the right everywhere
 * gets that error instead.
 */
export function missingRun(caller: Caller, ref: RunRef): CairnError {
  authorizeCall(caller);
  // A request may name many, and the caller must be able to leave out this one.
  const facts = ref.by === "id" && ref.id.length <= FACT_LENGTH_MAX ? { run: ref.id } : {};
  return new CairnError("not-found", `cannot find run ${quote(refText(ref))}`, { facts });
}

function ambiguous(ref: RunRef, found: readonly Run[]): CairnError {
  const candidates = found.map((run) => `${run.namespace}/${run.id}`);
  return new CairnError(
    "precondition",
    `cannot choose a run for alias ${quote(refText(ref))}: ${candidates.join(", ")} all have it`,
    {
      reason: "ALIAS_AMBIGUOUS",
      facts: { candidates: candidates.join(" ") },
      hint: "name a deeper namespace, or one of these paths",
    },
  );
}

function refText(ref: RunRef): string {
  if (ref.by === "id") return ref.id;
  return ref.by === "path" ? `${ref.namespace}/${ref.id}` : ref.alias;
}
