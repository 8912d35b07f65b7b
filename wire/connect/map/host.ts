import { CairnError, quote } from "#lang/errors.ts";
import type { Host } from "#core/ports/point-store.ts";
import type { HostName, OwnerRef } from "#core/types/host.ts";
import type { RunRef as RunRefMessage } from "#proto/cairn/v1/run_pb.ts";
import type { Host as HostMessage } from "#proto/cairn/v1/series_pb.ts";
import { toRunRef } from "./run.ts";

export function toHost({ namespace, name }: HostName): HostName {
  return { namespace, name };
}

/** The run, or the host in its place. */
export function toOwnerRef({
  run,
  host,
}: {
  run?: RunRefMessage | undefined;
  host?: HostName | undefined;
}): OwnerRef {
  if (host === undefined) return { run: toRunRef(run) };
  requireNoRun(run, host);
  return { host: toHost(host) };
}

/** A host in place of a run. */
export function requireNoRun(run: object | undefined, host: HostName): undefined {
  if (run === undefined) return undefined;
  throw new CairnError("invalid", `cannot name host ${quote(host.name)} and a run at once`, {
    hint: "give one of them: a series belongs to a run or to a host",
  });
}

export function fromHost({ namespace, name, seriesCount, writtenUs }: Host): Omit<HostMessage, "$typeName"> {
  return { namespace, name, seriesCount: BigInt(seriesCount), writtenUs: BigInt(writtenUs) };
}
