import type { Provenance } from "../types/provenance.ts";
import type { Run, RunChange } from "../types/run.ts";

/**
 * Names of the fields that an update made different, as its audit entry gives them. What adds to the provenance
 * without altering what was recorded is not among them: clients complete it at the start of every run.
 */
export function changedFields(before: Run, after: Run): string[] {
  const fields: [name: string, changed: boolean][] = [
    ["name", before.name !== after.name],
    ["notes", before.notes !== after.notes],
    ["status", before.status !== after.status],
    ["ended_us", before.endedUs !== after.endedUs],
    ["params", before.params.size !== after.params.size || loses(before.params, after.params)],
    ["tags", before.tags.size !== after.tags.size || loses(before.tags, after.tags)],
    ["aliases", before.aliases.length !== after.aliases.length],
    ["provenance", losesProvenance(before.provenance, after.provenance)],
  ];
  return fields.flatMap(([name, changed]) => (changed ? [name] : []));
}

/** Status, end and heartbeats do not count as content; the others say how to merge. */
const NO_CONTENT: ReadonlySet<string> = new Set<keyof RunChange>([
  "status",
  "endedUs",
  "heartbeatSeconds",
  "onlyIfAbsent",
  "paramsOnce",
]);

/** Whether its writer is from then on the one who changed the run last. */
export function changesContent(change: RunChange): boolean {
  return Object.entries(change).some(([part, value]) => value !== undefined && !NO_CONTENT.has(part));
}

/** Those of the changed fields in which a recorded value was removed or replaced. */
export function overwrittenFields(before: Run, after: Run): string[] {
  const isAddition: Readonly<Record<string, boolean>> = {
    notes: before.notes === "",
    ended_us: true,
    params: !loses(before.params, after.params),
    tags: !loses(before.tags, after.tags),
    aliases: true,
  };
  return changedFields(before, after).filter((field) => isAddition[field] !== true);
}

function loses(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): boolean {
  if (before === after) return false;
  for (const [key, value] of before) if (after.get(key) !== value) return true;
  return false;
}

function losesProvenance(before: Provenance | undefined, after: Provenance | undefined): boolean {
  if (before === undefined || before === after) return false;
  const later = new Map(textsOf(after));
  return textsOf(before).some(([key, text]) => later.get(key) !== text);
}

/** The recorded values, by their place; empty ones are left out. */
function textsOf(provenance: Provenance | undefined): [place: string, text: string][] {
  if (provenance === undefined) return [];
  const { code, environment, ...rest } = provenance;
  const known = code && {
    ...code,
    trackedChanges: code.trackedChanges || undefined,
    leftOutBytes: code.leftOutBytes || undefined,
  };
  const all = { ...rest, ...known, ...Object.fromEntries([...environment].map(([k, v]) => [`env ${k}`, v])) };
  return Object.entries(all).flatMap(([place, value]): [string, string][] =>
    isEmpty(value) ? [] : [[place, JSON.stringify(value)]],
  );
}

function isEmpty(value: string | readonly string[] | number | undefined): boolean {
  return typeof value === "object" || typeof value === "string" ? value.length === 0 : value === undefined;
}
