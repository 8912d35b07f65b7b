import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { ENDED, type RunStatus } from "#lang/statuses.ts";
import { changesContent } from "#core/runs/run-difference.ts";
import { paramsBytes } from "#core/types/check.ts";
import { mergeProvenance } from "#core/types/merge-provenance.ts";
import type { Run, RunChange } from "#core/types/run.ts";
import { sizeOf } from "#core/types/size.ts";
import { merge } from "./tags.ts";

/** The run after a change by a principal; undefined for the server. Throws what RunStore.updateRun does. */
export function changedRun(run: Run, change: RunChange, nowUs: number, by: string | undefined): Run {
  const onlyIfAbsent = change.onlyIfAbsent ?? false;
  if (change.paramsOnce === true) requireUnwritten(run, change.params);
  const params = merge(run.params, change.params, change.removeParams, onlyIfAbsent);
  const tags = merge(run.tags, change.tags, change.removeTags, onlyIfAbsent);
  const aliases = [...new Set([...run.aliases, ...(change.addAliases ?? [])])];
  requireAtMost(params.size, limits.paramsPerRunMax, "params", run.id);
  if (change.params !== undefined) {
    requireAtMost(paramsBytes(params), limits.paramsBytesPerRunMax, "bytes of params", run.id);
  }
  requireAtMost(tags.size, limits.tagsPerRunMax, "tags", run.id);
  requireAtMost(aliases.length, limits.aliasesPerRunMax, "aliases", run.id);
  const status = change.status ?? run.status;
  return {
    ...run,
    name: change.name ?? run.name,
    notes: change.notes ?? run.notes,
    provenance: mergedProvenance(run, change),
    params,
    tags,
    aliases,
    status,
    heartbeatSeconds: (change.heartbeatSeconds ?? run.heartbeatSeconds) || undefined,
    startedUs: run.startedUs ?? (status === "scheduled" ? undefined : nowUs),
    endedUs: endOf(run, change, status, nowUs),
    updatedUs: Math.max(run.updatedUs, nowUs),
    endedBy: enderOf(run, status, by),
    changedBy: by !== undefined && changesContent(change) ? by : run.changedBy,
  };
}

/** Who gave it the status that it has ended with. */
function enderOf(run: Run, status: RunStatus, by = ""): string {
  if (!ENDED.has(status)) return "";
  return status === run.status ? run.endedBy : by;
}

function mergedProvenance(run: Run, change: RunChange): Run["provenance"] {
  const { captured, addProvenance } = change;
  const merged = mergeProvenance(run.provenance, change);
  if (merged === undefined || (captured ?? addProvenance) === undefined) return merged;
  requireAtMost(merged.trainingData.length, limits.provenanceListMax, "references to training data", run.id);
  requireAtMost(merged.testData.length, limits.provenanceListMax, "references to test data", run.id);
  requireAtMost(sizeOf(merged), 2 * limits.provenanceBytesMax, "bytes of provenance", run.id);
  return merged;
}

function endOf(run: Run, change: RunChange, status: RunStatus, nowUs: number): number | undefined {
  if (!ENDED.has(status)) return undefined;
  if (change.endedUs !== undefined) return change.endedUs;
  return change.status === undefined ? run.endedUs : (run.endedUs ?? nowUs);
}

function requireUnwritten({ id, params }: Run, added: RunChange["params"]): void {
  for (const [key, value] of added ?? []) {
    if ((params.get(key) ?? value) === value) continue;
    throw new CairnError(
      "precondition",
      `cannot write param ${quote(key)} of run ${quote(id)}: it has another value`,
      { reason: "PARAM_WRITTEN", facts: { key }, hint: "this wire writes a param once; use another key" },
    );
  }
}

function requireAtMost(count: number, max: number, noun: string, id: string): void {
  if (count <= max) return;
  throw new CairnError("exhausted", `cannot keep ${count} ${noun} in run ${quote(id)}: the limit is ${max}`, {
    reason: "LIMIT_EXCEEDED",
  });
}
