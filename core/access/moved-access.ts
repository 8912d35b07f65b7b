import { isUnder, movedPath } from "#lang/namespace-path.ts";
import type { AccessChange, StoredToken } from "../ports/access-store.ts";
import type { Scope } from "../types/scope.ts";
import type { AccessState } from "./state.ts";

/** What a token is limited to, once a namespace is at another path; the same list where nothing of it was moved. */
export function limitsAfterMove(namespaces: readonly string[], from: string, to: string): readonly string[] {
  if (!namespaces.some((path) => isUnder(path, from))) return namespaces;
  return [...new Set(namespaces.map((path) => movedPath(path, from, to)))];
}

/**
 * Makes what is bound and closed on the namespaces, and what tokens are limited to, hold at the new paths as well. It is
 * applied before a namespace is moved: from the moment of the move its content is found at the new path, and must not be less
 * closed there than it is. What is on runs is known by their ids and needs nothing.
 */
export function accessAtBoth(state: AccessState, from: string, to: string): AccessChange[] {
  const isMoved = ({ namespace, runId }: Scope) => runId === undefined && isUnder(namespace, from);
  const moved = (scope: Scope) => ({ namespace: movedPath(scope.namespace, from, to) });
  const changes: AccessChange[] = [];
  for (const scope of state.closed.values()) {
    if (isMoved(scope)) changes.push({ do: "set-closed", scope: moved(scope), closed: true });
  }
  for (const binding of state.bindings()) {
    if (!isMoved(binding.scope)) continue;
    changes.push({ do: "put-binding", binding: { ...binding, scope: moved(binding.scope) } });
  }
  for (const token of state.tokens.values()) {
    const namespaces = limitsAfterMove(token.namespaces, from, to);
    if (namespaces === token.namespaces) continue;
    changes.push(
      ...replaceToken({ ...token, namespaces: [...new Set([...token.namespaces, ...namespaces])] }),
    );
  }
  return changes;
}

/** A token that is put as it is already known changes nothing that was worked out from it. */
export function replaceToken(token: StoredToken): AccessChange[] {
  return [
    { do: "delete-token", id: token.id },
    { do: "put-token", token },
  ];
}
