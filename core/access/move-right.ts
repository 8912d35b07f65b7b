import { CairnError, quote } from "#lang/errors.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { authorize, maySee, type Caller } from "./caller.ts";
import { rankAt } from "./grants.ts";
import { rankOf, roleOf } from "../types/role.ts";
import { chainOf, scopeKey, type Scope } from "../types/scope.ts";
import { Standing } from "./standing.ts";
import type { AccessState } from "./state.ts";

/**
 * Throws unless the caller may do what the call declares, both to the run and to the namespace that it is moved to. Throws
 * also where a principal would get a role on the run that is stronger than the caller's own: the caller could not bind
 * that role today (A9). A principal that has such a role on the run already may keep it.
 *
 * What is bound or closed on the run itself goes along, so only bindings around the new place matter. They do not reach
 * into a closed run.
 */
export function requireMayMove(
  state: AccessState,
  caller: Caller,
  run: { namespace: string; runId: string },
  to: string,
): void {
  authorize(caller, run);
  authorize(caller, { namespace: to });
  requireNoneStronger(state, caller, { scope: run, name: `run ${quote(run.runId)}` }, to);
}

/**
 * The same for a namespace with everything below it: the caller must also maintain what is closed in it. A role reaches
 * everything that is not closed, so that nothing else in it needs a look. Throws `exists` where something is bound or
 * closed at the new path already, or below it: it would be mixed with what comes.
 */
export function requireMayMoveNamespace(state: AccessState, caller: Caller, from: string, to: string): void {
  authorize(caller, { namespace: from });
  authorize(caller, { namespace: to });
  const name = `namespace ${quote(from)}`;
  requireAllWithin(state, caller, from, "move");
  const ruled = [...ruledBelow(state, to)];
  if (ruled.length > 0) {
    // Some of it may be hidden from the caller.
    const seen = ruled.find((scope) => maySee(caller, scope));
    const where = seen === undefined ? "there or below it" : `on namespace ${quote(seen.namespace)}`;
    throw new CairnError(
      "exists",
      `cannot move ${name} to ${quote(to)}: something is bound or closed ${where}`,
      { reason: "ACCESS_THERE", hint: "unbind and open what is there, or choose another path" },
    );
  }
  requireNoneStronger(state, caller, { scope: { namespace: from }, name }, to);
}

/** Throws unless the caller may do what the call declares also to everything that is closed in the namespace and below it. */
export function requireAllWithin(state: AccessState, caller: Caller, path: string, verb: string): void {
  for (const scope of state.closed.values()) {
    if (!isUnder(scope.namespace, path) || caller.rights.may(caller.permission, scope)) continue;
    throw new CairnError(
      "forbidden",
      `cannot ${verb} namespace ${quote(path)}: you do not ${caller.permission} everything in it`,
      { reason: "NO_RIGHT", hint: "ask a maintainer of everything in it" },
    );
  }
}

function* ruledBelow(state: AccessState, path: string): Generator<Scope> {
  for (const scope of state.closed.values()) if (isUnder(scope.namespace, path)) yield scope;
  for (const { scope } of state.bindings()) if (isUnder(scope.namespace, path)) yield scope;
}

function requireNoneStronger(
  state: AccessState,
  caller: Caller,
  { scope, name }: { scope: Scope; name: string },
  to: string,
): void {
  if (state.closed.has(scopeKey(scope))) return;
  const own = rankAt(caller, scope);
  for (const step of chainOf({ namespace: to })) {
    for (const { principal, role } of state.bindingsOn(step)) {
      if (rankOf(role) <= own) continue;
      const standing = new Standing(state, [principal]);
      const rank = standing.rankAt({ namespace: to });
      if (rank <= own || rank <= standing.rankAt(scope)) continue;
      throw new CairnError(
        "forbidden",
        `cannot move ${name} to namespace ${quote(to)}: another principal would be ${roleOf(rank)} of it, and your own role on it is ${roleOf(own)}`,
        { reason: "ROLE_TOO_STRONG", hint: `ask a principal that is ${roleOf(rank)} of it` },
      );
    }
  }
}
