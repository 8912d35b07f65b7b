import { isDeepStrictEqual } from "node:util";
import type { AccessChange, AccessContent } from "../ports/access-store.ts";
import { replaceToken } from "./moved-access.ts";
import { scopeKey } from "../types/scope.ts";
import type { AccessState } from "./state.ts";

/** What makes the state what the content is. A use of a token that only the state knows is kept. */
export function changesTo(state: AccessState, content: AccessContent): AccessChange[] {
  return [...deletions(state, content), ...additions(state, content)];
}

function* deletions(state: AccessState, content: AccessContent): Generator<AccessChange> {
  const tokens = new Set(content.tokens.map(({ id }) => id));
  for (const id of state.tokens.keys()) if (!tokens.has(id)) yield { do: "delete-token", id };
  const bindings = new Set(content.bindings.map((one) => bindingKey(one)));
  for (const one of state.bindings()) {
    if (!bindings.has(bindingKey(one))) {
      yield { do: "delete-binding", principal: one.principal, scope: one.scope };
    }
  }
  const closed = new Set(content.closed.map(scopeKey));
  for (const [key, scope] of state.closed) {
    if (!closed.has(key)) yield { do: "set-closed", scope, closed: false };
  }
  const members = new Set(content.members.map(({ group, member }) => JSON.stringify([group, member])));
  for (const { group, member } of state.members()) {
    if (!members.has(JSON.stringify([group, member]))) yield { do: "remove-member", group, member };
  }
  const principals = new Set(content.principals.map(({ name }) => name));
  for (const name of state.principals.keys()) {
    if (!principals.has(name)) yield { do: "delete-principal", name };
  }
}

function* additions(state: AccessState, content: AccessContent): Generator<AccessChange> {
  for (const principal of content.principals) {
    const known = state.principals.get(principal.name);
    if (!isDeepStrictEqual(known, principal)) yield { do: "put-principal", principal };
  }
  for (const { group, member } of content.members) {
    if (!state.membersOf(group).has(member)) yield { do: "add-member", group, member };
  }
  for (const binding of content.bindings) {
    const known = state.findBinding(binding.principal, scopeKey(binding.scope));
    if (!isDeepStrictEqual(known, binding)) yield { do: "put-binding", binding };
  }
  for (const scope of content.closed) {
    // A run that was moved is closed where it is now.
    const known = state.closed.get(scopeKey(scope));
    if (known?.namespace !== scope.namespace) yield { do: "set-closed", scope, closed: true };
  }
  for (const token of content.tokens) {
    const { id, lastUsedUs } = token;
    const known = state.tokens.get(id);
    // A token changes only where a namespace was moved that it is limited to.
    if (known === undefined) yield { do: "put-token", token };
    else if (!isDeepStrictEqual(known.namespaces, token.namespaces)) yield* replaceToken(token);
    else if ((lastUsedUs ?? 0) > (known.lastUsedUs ?? 0))
      yield { do: "use-token", id, lastUsedUs: lastUsedUs! };
  }
}

function bindingKey({ principal, scope }: AccessContent["bindings"][number]): string {
  return JSON.stringify([principal, scopeKey(scope)]);
}
