import { isUnder } from "#lang/namespace-path.ts";
import type { Binding } from "../ports/access-store.ts";
import type { Holder } from "./book.ts";
import { isUnbounded } from "./tokens/mint-token.ts";
import { rankOf, roleOf, type Rank, type Role } from "../types/role.ts";
import { scopeKey, type Scope } from "../types/scope.ts";
import type { AccessReason } from "./views.ts";

/** The bounds of a token that has fewer rights than its principal. */
export type Bounds = Pick<Holder, "namespaces" | "rankMax">;

/** undefined for a token that has all its principal has. */
export function boundsOf(holder: Holder | undefined): Bounds | undefined {
  return holder === undefined || isUnbounded(holder.token) ? undefined : holder;
}

/**
 * Bindings as a bounded token has them: those inside its namespaces, and those around one as if they were bound on
 * that one. None has a stronger role than the token.
 */
export function bindingsWithin({ namespaces, rankMax }: Bounds, bindings: Iterable<Binding>): Binding[] {
  const within = new Map<string, Binding>();
  for (const binding of bindings) {
    for (const namespace of namespaces) {
      const scope = scopeWithin(namespace, binding.scope);
      if (scope === undefined) continue;
      const key = `${binding.principal}\n${scopeKey(scope)}`;
      const known = within.get(key);
      if (known !== undefined && rankOf(known.role) >= rankOf(binding.role)) continue;
      within.set(key, { ...binding, scope, role: atMost(binding.role, rankMax) });
    }
  }
  return [...within.values()];
}

/** The scope as it is known inside the namespace: what is around it begins there, what is elsewhere is undefined. */
export function scopeWithin(namespace: string, scope: Scope): Scope | undefined {
  if (isUnder(scope.namespace, namespace)) return scope;
  return scope.runId === undefined && isUnder(namespace, scope.namespace) ? { namespace } : undefined;
}

/** The reason with a role that is not stronger than the token. */
export function reasonAtMost({ rankMax }: Bounds, reason: AccessReason): AccessReason {
  const { binding } = reason;
  return { ...reason, binding: { ...binding, role: atMost(binding.role, rankMax) } };
}

function atMost(role: Role, rankMax: Rank): Role {
  return rankOf(role) <= rankMax ? role : roleOf(rankMax)!;
}
