import { authorizeCall, maySee, type Caller } from "../access/caller.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Host, PointStore } from "../ports/point-store.ts";
import { fillPage } from "../lists/fill-page.ts";
import { pageSize } from "../lists/page-size.ts";
import type { HostName } from "../types/host.ts";

/** Hosts in a namespace and below it, without those in namespaces that the caller may not read. */
export async function listHosts(
  caller: Caller,
  points: PointStore,
  request: { under: string; pageSize: number; pageToken: string },
): Promise<{ hosts: Host[]; nextPageToken: string }> {
  authorizeCall(caller);
  const under = parseNamespace(request.under, { root: true });
  const begin = request.pageToken === "" ? undefined : hostOfToken(request.pageToken);
  const { items, last } = await fillPage<Host, Host>(
    pageSize(request.pageSize),
    (looked, bound) => {
      caller.signal?.throwIfAborted();
      return points.listHosts({ under, after: looked ?? begin, ...bound });
    },
    (host) => (maySee(caller, { namespace: host.namespace }) ? host : undefined),
  );
  return { hosts: items, nextPageToken: last === undefined ? "" : `${last.namespace}\n${last.name}` };
}

function hostOfToken(token: string): HostName {
  const [namespace, name, ...others] = token.split("\n");
  if (namespace !== undefined && name !== undefined && others.length === 0) return { namespace, name };
  throw new CairnError("invalid", `cannot read page token ${quote(token)}`, { reason: "PAGE_TOKEN" });
}
