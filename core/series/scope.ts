import { authorize, authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { HostOwner, SeriesOwner, SeriesScope } from "../ports/point-store.ts";
import type { Runs } from "../runs/runs.ts";
import { requireAtMost } from "../types/check.ts";
import { requireHost, type HostName, type OwnerRef } from "../types/host.ts";

/**
 * Where a caller selects series: in runs, in hosts, or in all that it may read in a namespace and below: of runs, and with
 * `withHosts` of hosts.
 */
export type Among =
  | { runs: readonly RunRef[] }
  | { hosts: readonly HostName[] }
  | { under: string; withHosts?: boolean };

/** The part of it that the caller may read. Throws `not-found` for a missing or hidden run. */
export async function scopeOf(caller: Caller, among: Among, runs: Runs): Promise<SeriesScope> {
  if ("under" in among) {
    authorizeCall(caller);
    const under = parseNamespace(among.under, { root: true });
    return { under, hosts: among.withHosts ?? false, readable: caller.rights.readable() };
  }
  const owners = new Map<string, SeriesOwner>();
  if ("hosts" in among) {
    requireAtMost(among.hosts.length, limits.selectRunsMax, "hosts whose series are selected");
    for (const host of among.hosts) {
      const owner = hostOf(caller, host);
      if (owner !== undefined) owners.set(`${host.namespace}\n${host.name}`, owner);
    }
    return { owners: [...owners.values()] };
  }
  requireAtMost(among.runs.length, limits.selectRunsMax, "runs whose series are selected");
  for (const ref of among.runs) {
    const runId = await runs.locate(caller, ref);
    owners.set(runId, { runId });
  }
  return { owners: [...owners.values()] };
}

/**
 * undefined for a host in a namespace that the caller may not see. A host is only its series, so a missing one
 * has none, like a key that was never written; a hidden one gets the same answer.
 */
export function hostOf(caller: Caller, named: HostName): HostOwner | undefined {
  authorizeCall(caller);
  const host = requireHost(named);
  const scope = { namespace: host.namespace };
  if (!maySee(caller, scope)) return undefined;
  authorize(caller, scope);
  return { host };
}

/** The owner of series to be destroyed, and its name in the audit. */
export interface Place {
  owner: SeriesOwner;
  target: string;
  where: Readonly<Record<string, string>>;
}

/** undefined for a host that the caller may not see. */
export async function placeOf(
  caller: Caller,
  { run, host }: OwnerRef,
  runs: Runs,
): Promise<Place | undefined> {
  if (host !== undefined) {
    const owner = hostOf(caller, host);
    return owner && { owner, target: host.name, where: { namespace: host.namespace, host: host.name } };
  }
  // From the store: it may have been moved.
  const { id: runId, namespace } = await runs.getHead(caller, run);
  return { owner: { runId }, target: runId, where: { namespace } };
}
