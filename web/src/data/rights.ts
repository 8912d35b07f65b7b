import { PrincipalKind, Role, type WhoAmIResponse } from "#proto/cairn/v1/access_pb.ts";

/** A namespace, or a run in it. */
export interface Place {
  namespace: string;
  runId?: string;
}

/**
 * Whether the caller's bindings and token give the role there. Pages hide controls by it; the server decides: a closed
 * namespace may still refuse the call.
 */
export function hasRole(
  { principal, token, bindings, truncated }: WhoAmIResponse,
  role: Role,
  { namespace, runId = "" }: Place,
): boolean {
  if (token !== undefined) {
    if (token.role !== Role.UNSPECIFIED && token.role < role) return false;
    if (token.namespaces.length > 0 && !token.namespaces.some((path) => isUnder(namespace, path)))
      return false;
  }
  // The user who started the server has all permissions; of too many bindings only some are known.
  if (principal?.kind === PrincipalKind.OWNER || truncated) return true;
  return bindings.some(({ role: bound, scope }) => {
    if (bound < role || scope === undefined) return false;
    if (scope.runId !== "") return scope.runId === runId && scope.artifact === "";
    return isUnder(namespace, scope.namespace);
  });
}

/** Whether there is a place where the caller has the role. */
export function hasRoleSomewhere(who: WhoAmIResponse, role: Role): boolean {
  return (
    who.bindings.some(({ scope }) => {
      const place = { namespace: scope?.namespace ?? "", runId: scope?.runId ?? "" };
      // A token may be limited to a part of what the binding is about.
      const within = who.token?.namespaces.filter((path) => isUnder(path, place.namespace)) ?? [];
      return [place.namespace, ...within].some((namespace) => hasRole(who, role, { ...place, namespace }));
    }) || hasRole(who, role, { namespace: "" })
  );
}

/** Whether no binding gives anything: every read is refused. */
export function isWithoutRole({ principal, bindings, truncated }: WhoAmIResponse): boolean {
  return (
    bindings.length === 0 &&
    !truncated &&
    principal !== undefined &&
    principal.kind !== PrincipalKind.OWNER &&
    principal.kind !== PrincipalKind.ANONYMOUS
  );
}

function isUnder(path: string, above: string): boolean {
  return above === "" || path === above || path.startsWith(`${above}/`);
}
