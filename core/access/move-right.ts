import { CairnError, quote } from "#lang/errors.ts";
import { authorize, type Caller } from "./caller.ts";
import { rankAt } from "./grants.ts";
import { rankOf, roleOf } from "./role.ts";
import { chainOf, scopeKey } from "./scope.ts";
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
  if (state.closed.has(scopeKey(run))) return;
  const own = rankAt(caller, run);
  for (const step of chainOf({ namespace: to })) {
    for (const { principal, role } of state.bindingsOn(step)) {
      if (rankOf(role) <= own) continue;
      const standing = new Standing(state, [principal]);
      const rank = standing.rankAt({ namespace: to });
      if (rank <= own || rank <= standing.rankAt(run)) continue;
      throw new CairnError(
        "forbidden",
        `cannot move run ${quote(run.runId)} to namespace ${quote(to)}: another principal would be ${roleOf(rank)} of it, and your own role on it is ${roleOf(own)}`,
        { reason: "ROLE_TOO_STRONG", hint: `ask a principal that is ${roleOf(rank)} of the run` },
      );
    }
  }
}
