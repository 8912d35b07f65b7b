import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { AccessChange, Binding } from "../ports/access-store.ts";
import { requireAdministrator } from "./administrators.ts";
import { auditRecord } from "./audit/audit-record.ts";
import type { AccessBook, Plan } from "./book.ts";
import { authorize, maySee, type Caller } from "./caller.ts";
import { endFirstToken, hasBetterWayIn } from "./tokens/first-token.ts";
import { getPrincipal, scopeRecord, scopeText } from "./names.ts";
import { PERMISSIONS } from "../types/permission.ts";
import { requireRoom } from "./principals.ts";
import { rankOf, roleOf, type Rank, type Role } from "../types/role.ts";
import { chainOf, ROOT, scopeKey, type Scope } from "../types/scope.ts";
import { EVERYONE, type AccessState } from "./state.ts";
import type { AskedScope, ScopeAccess } from "./views.ts";

export type LocateRun = (caller: Caller, runId: string) => Promise<string>;

/** How often a change on a run is planned again because the run was moved. */
const MOVES_MAX = 5;

/** Roles on scopes, and scopes that are closed. A caller can neither give nor take more than it has itself. */
export class Grants {
  readonly #book: AccessBook;
  readonly #locateRun: LocateRun;

  constructor(book: AccessBook, locateRun: LocateRun) {
    this.#book = book;
    this.#locateRun = locateRun;
  }

  /**
   * The scope a request names. A namespace need not exist: roles may be bound before the first run is
   * written. Throws `not-found` for a run the caller may not see.
   */
  async resolve(caller: Caller, { namespace, runId, artifact }: AskedScope): Promise<Scope> {
    if (runId === "") {
      if (artifact === "") return { namespace: parseNamespace(namespace, { root: true }) };
      throw new CairnError("invalid", `cannot use artifact ${quote(artifact)} as a scope without its run`);
    }
    const home = await this.#locateRun(caller, runId);
    if (namespace !== "" && namespace !== home) {
      throw new CairnError("not-found", `cannot find run ${quote(`${namespace}/${runId}`)}`);
    }
    return { namespace: home, runId, ...(artifact !== "" && { artifact }) };
  }

  bind(caller: Caller, request: { principal: string; role: Role; scope: AskedScope }): Promise<Binding> {
    const { principal, role } = request;
    return this.#change(caller, request.scope, (scope, state, nowUs) => {
      authorize(caller, scope);
      if (principal !== EVERYONE) getPrincipal(state, principal);
      const before = state.findBinding(principal, scopeKey(scope));
      requireWithin(caller, scope, role);
      if (before !== undefined) requireWithin(caller, scope, before.role);
      else requireRoom(state.bindingCount, limits.bindingsMax, "bindings");
      if (role !== "admin") this.#requireAdministrator(state, scope, principal);
      const { target, facts } = scopeRecord(scope);
      const was = before === undefined ? {} : { was: before.role };
      const binding = { principal, role, scope, createdUs: nowUs, createdBy: caller.principal.name };
      const isWayIn =
        role === "admin" && scopeKey(scope) === scopeKey(ROOT) && hasBetterWayIn(state, principal, nowUs);
      const first = isWayIn ? endFirstToken(state, caller, nowUs) : { changes: [], audit: [] };
      return {
        changes: [{ do: "put-binding", binding }, ...first.changes],
        audit: [
          auditRecord(caller, nowUs, "bind-role", target, { ...facts, principal, role, ...was }),
          ...first.audit,
        ],
        result: binding,
      };
    });
  }

  unbind(caller: Caller, request: { principal: string; scope: AskedScope }): Promise<void> {
    const { principal } = request;
    return this.#change(caller, request.scope, (scope, state, nowUs) => {
      authorize(caller, scope);
      const before = state.findBinding(principal, scopeKey(scope));
      if (before === undefined) {
        throw new CairnError(
          "not-found",
          `cannot unbind ${quote(principal)} from ${scopeText(scope)}: no role is bound there`,
        );
      }
      requireWithin(caller, scope, before.role);
      this.#requireAdministrator(state, scope, principal);
      const { target, facts } = scopeRecord(scope);
      return {
        changes: [{ do: "delete-binding", principal, scope }],
        audit: [
          auditRecord(caller, nowUs, "unbind-role", target, { ...facts, principal, role: before.role }),
        ],
        result: undefined,
      };
    });
  }

  setClosed(caller: Caller, request: { scope: AskedScope; closed: boolean }): Promise<void> {
    const { closed } = request;
    return this.#change(caller, request.scope, (scope, state, nowUs) => {
      authorize(caller, scope);
      if (state.closed.has(scopeKey(scope)) === closed) return { changes: [], audit: [], result: undefined };
      if (closed) requireRoom(state.closed.size, limits.closedScopesMax, "closed scopes");
      const { target, facts } = scopeRecord(scope);
      const kept = closed ? this.#keptBinding(state, caller, scope, nowUs) : undefined;
      const changes: AccessChange[] = [{ do: "set-closed", scope, closed }];
      if (kept !== undefined) changes.unshift({ do: "put-binding", binding: kept });
      const bound = kept === undefined ? {} : { principal: kept.principal, role: kept.role };
      const action = closed ? "close-scope" : "open-scope";
      return {
        changes,
        audit: [auditRecord(caller, nowUs, action, target, { ...facts, ...bound })],
        result: undefined,
      };
    });
  }

  /** The plan is made for where the run is when it is carried out: the store refuses it elsewhere. */
  async #change<T>(
    caller: Caller,
    asked: AskedScope,
    plan: (scope: Scope, state: AccessState, nowUs: number) => Plan<T>,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const scope = await this.resolve(caller, asked);
      try {
        return await this.#book.change((state, nowUs) => plan(scope, state, nowUs));
      } catch (thrown) {
        if (scope.runId === undefined || tries === MOVES_MAX) throw thrown;
        const now = await this.resolve(caller, asked);
        if (now.namespace === scope.namespace) throw thrown;
      }
    }
  }

  async get(caller: Caller, asked: AskedScope): Promise<ScopeAccess> {
    const scope = await this.resolve(caller, asked);
    if (authorizeAround(caller, scope) !== scope) return { scope, closed: false, bindings: [] };
    const { state } = this.#book;
    const bindings = [...state.bindingsOn(scope)].sort((a, b) => compareCodePoints(a.principal, b.principal));
    return { scope, closed: state.closed.has(scopeKey(scope)), bindings };
  }

  /** The binding that keeps the role of a caller that closes a scope; undefined when that is not needed. */
  #keptBinding(state: AccessState, caller: Caller, scope: Scope, nowUs: number): Binding | undefined {
    const { kind, name } = caller.principal;
    if (kind === "owner" || kind === "anonymous") return undefined;
    const present = rankAt(caller, scope);
    const key = scopeKey(scope);
    for (const subject of this.#book.subjectsOf(name)) {
      const isRootAdmin = state.findBinding(subject, scopeKey(ROOT))?.role === "admin";
      if (isRootAdmin || rankOf(state.findBinding(subject, key)?.role) >= present) return undefined;
    }
    requireRoom(state.bindingCount, limits.bindingsMax, "bindings");
    return { principal: name, role: roleOf(present)!, scope, createdUs: nowUs, createdBy: name };
  }

  #requireAdministrator(state: AccessState, scope: Scope, principal: string): void {
    if (scopeKey(scope) === scopeKey(ROOT)) requireAdministrator(state, { binding: principal });
  }
}

/**
 * For calls that only look: throws unless the caller may do to the scope what its call declares. One that it may not see is judged by what is
 * around it, as one that nothing is bound or closed on: a refusal would say that it is closed. Returns the scope, or
 * the nearest one around it that the caller may see.
 */
export function authorizeAround(caller: Caller, scope: Scope): Scope {
  const seen = maySee(caller, scope) ? scope : chainOf(scope).findLast((step) => maySee(caller, step));
  if (seen !== undefined && caller.rights.may(caller.permission, seen)) return seen;
  authorize(caller, scope);
  return scope;
}

/** The strongest the caller may do on the scope. */
export function rankAt(caller: Caller, scope: Scope): Rank {
  let rank = 0;
  while (rank + 1 < PERMISSIONS.length && caller.rights.may(PERMISSIONS[rank + 1]!, scope)) rank++;
  return rank as Rank;
}

function requireWithin(caller: Caller, scope: Scope, role: Role): void {
  const own = rankAt(caller, scope);
  if (rankOf(role) <= own) return;
  throw new CairnError(
    "forbidden",
    `cannot give or take role ${role} on ${scopeText(scope)}: your own there is ${roleOf(own) ?? "none"}`,
    { reason: "ROLE_TOO_STRONG", hint: `ask a principal that is ${role} there` },
  );
}
