import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { requireKey } from "./check.ts";

/** A machine whose metrics belong to no run. */
export interface HostName {
  namespace: string;
  name: string;
}

/** The owner of series, as a caller names it. */
export type OwnerRef = { run: RunRef; host?: undefined } | { host: HostName; run?: undefined };

/** The name if it is valid for a host. */
export function requireHost(host: HostName): HostName {
  parseNamespace(host.namespace);
  requireKey(host.name, "host name", limits.hostNameBytesMax);
  return host;
}
