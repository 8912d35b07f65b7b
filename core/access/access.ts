import type { Clock } from "#base/clock.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { isUnder } from "#lang/namespace-path.ts";
import type { Follower } from "../journal/follower.ts";
import type { AccessStore, AuditEntry, AuditVerdict, Binding } from "../ports/access-store.ts";
import { pageSize } from "../lists/page-size.ts";
import { listAdministrators, type Administrator } from "./administrators.ts";
import { AccessBook } from "./book.ts";
import { bindingsWithin, boundsOf, reasonAtMost } from "./bounds.ts";
import { authorize, type Caller, type Identity } from "./caller.ts";
import { changePassword } from "./passwords/change-password.ts";
import { explainAccess } from "./explain.ts";
import { planFirstToken } from "./tokens/first-token.ts";
import { authorizeAround, Grants, rankAt, type LocateRun } from "./grants.ts";
import { Logins } from "./passwords/logins.ts";
import { viewToken } from "./tokens/mint-token.ts";
import { requireAllWithin, requireMayMove, requireMayMoveNamespace } from "./move-right.ts";
import { accessAtBoth } from "./moved-access.ts";
import { getPrincipal, scopeText } from "./names.ts";
import { PasswordChecks } from "./passwords/password-checks.ts";
import { Passwords, type PasswordCost } from "./passwords/password.ts";
import { Principals, viewPrincipal } from "./principals.ts";
import { roleOf, type Role } from "../types/role.ts";
import { EVERYONE } from "./state.ts";
import { holderOf } from "./tokens/token-rights.ts";
import { Tokens } from "./tokens/tokens.ts";
import type {
  AskedScope,
  CreatedSession,
  CreatedToken,
  Explanation,
  NewPrincipal,
  NewToken,
  Page,
  PrincipalChange,
  PrincipalView,
  ScopeAccess,
  ShownSession,
  TokenView,
  WhoAmI,
} from "./views.ts";

export interface AccessParts {
  store: AccessStore;
  clock: Clock;
  follower: Follower;
  /**
   * The namespace of a run, if the caller may do to it what the call declares; throws `not-found` when
   * there is no such run or the caller may not see it.
   */
  locateRun: LocateRun;
  /** Of passwords that are set from now on; a good default when absent. */
  passwordCost?: PasswordCost;
}

const REVIEW = "review-administrators";

/**
 * Who may do what. All of it is in memory, so that asking costs no more than a look into a map; a change
 * is first made durable, together with its record in the audit, and then visible at once, also
 * to rights that were handed out before. In other processes it takes effect within a second.
 *
 * Methods that take a Caller check what it may; the permission is the one its call declares.
 */
export class Access {
  readonly #store: AccessStore;
  readonly #book: AccessBook;
  readonly #principals: Principals;
  readonly #grants: Grants;
  readonly #tokens: Tokens;
  readonly #logins: Logins;
  readonly #parts: { book: AccessBook; checks: PasswordChecks; passwords: Passwords };

  private constructor({ store, follower, locateRun, passwordCost }: AccessParts, book: AccessBook) {
    const passwords = new Passwords(passwordCost);
    this.#store = store;
    this.#book = book;
    this.#grants = new Grants(book, locateRun);
    const checks = new PasswordChecks(book, passwords);
    this.#principals = new Principals(book, passwords, checks);
    this.#tokens = new Tokens(book, follower, checks);
    this.#logins = new Logins(book, checks);
    this.#parts = { book, checks, passwords };
  }

  static async open(parts: AccessParts): Promise<Access> {
    return new Access(parts, await AccessBook.open(parts.store, parts.clock, parts.follower));
  }

  /**
   * The holder of this secret: at once for one that is known here. An unknown one may have been created by another process
   * a moment ago, so the store is asked before it is refused. Throws or rejects with `unauthenticated` (BAD_CREDENTIAL).
   */
  identify(secret: string): Identity | Promise<Identity> {
    return this.#tokens.identify(secret);
  }

  /** The holder of this session; its secret is not a token. Otherwise as `identify`. */
  identifySession(shown: ShownSession): Identity | Promise<Identity> {
    return this.#tokens.identifySession(shown);
  }

  /** The secret of a token for the first administrator, when no administrator can log in. */
  bootstrap(): Promise<string | undefined> {
    return this.#book.change(planFirstToken);
  }

  /**
   * For a start that requires a credential of every caller: the administrators of the root, when a caller has acted as the
   * owner since the last such start. That caller may have made administrators whom the person at the machine does not
   * know. The list is noted in the audit, and not shown again; empty when there is nothing new.
   */
  async reviewAdministrators(): Promise<Administrator[]> {
    const any = { action: undefined, target: undefined, before: undefined };
    const [last] = await this.#store.listAudit({ principal: "owner", ...any, limit: 1 });
    if (last?.action === "bootstrap" || last?.action === REVIEW) return [];
    return this.#book.change((state, nowUs) => {
      const result = listAdministrators(state, nowUs);
      const facts = { administrators: String(result.length) };
      const record = { principal: "owner", action: REVIEW, target: "/", facts, timeUs: nowUs };
      return { changes: [], audit: result.length === 0 ? [] : [record], result };
    });
  }

  /** After every change of who may do what, here or in another process, and when a token has expired. Returns how to unsubscribe. */
  onChange(listener: () => void): () => void {
    return this.#book.onChange(listener);
  }

  /** Stores data that is only in memory: when tokens were last used. */
  close(): Promise<void> {
    this.#book.close();
    return this.#tokens.close();
  }

  whoAmI(caller: Caller): WhoAmI {
    const holder = holderOf(caller);
    if (holder === undefined) return { principal: unstored(caller), token: undefined, bindings: [] };
    const { state } = this.#book;
    const bindings: Binding[] = [];
    for (const name of this.#book.subjectsOf(holder.principal.name)) bindings.push(...state.bindingsOf(name));
    const principal = viewPrincipal(state, holder.principal);
    const token = viewToken(holder.token);
    const bounds = boundsOf(holder);
    if (bounds === undefined) return { principal, token, bindings };
    const within = bindingsWithin(bounds, bindings);
    const groups = principal.groups.filter((group) => within.some((binding) => binding.principal === group));
    return { principal: { ...principal, groups }, token, bindings: within };
  }

  logIn(caller: Caller, request: { name: string; password: string }): Promise<CreatedToken> {
    return this.#logins.logIn(caller, request, "login");
  }

  /** The session of a browser, for a password. */
  async logInSession(caller: Caller, request: { name: string; password: string }): Promise<CreatedSession> {
    const session = await this.#logins.logIn(caller, request, "session");
    return { ...session, pageKey: session.pageKey! };
  }

  /** The session of a browser for the holder of a token; it ends with that. */
  createSession(caller: Caller): Promise<CreatedSession> {
    return this.#tokens.createSession(caller);
  }

  changePassword(caller: Caller, request: { oldPassword: string; newPassword: string }): Promise<void> {
    return changePassword(this.#parts, caller, request);
  }

  logOut(caller: Caller): Promise<void> {
    return this.#tokens.logOut(caller);
  }

  /** Of another principal for those who maintain the scope; of oneself as the token has it. */
  async explain(caller: Caller, request: { principal: string; scope: AskedScope }): Promise<Explanation> {
    const scope = await this.#grants.resolve(caller, request.scope);
    const seen = authorizeAround(caller, scope);
    const holder = holderOf(caller);
    const name = request.principal === "" ? holder?.principal.name : request.principal;
    if (name === undefined) {
      const { kind } = caller.principal;
      return { role: "admin", reasons: [], summary: `the ${kind} of the machine may do everything` };
    }
    if (name !== EVERYONE) getPrincipal(this.#book.state, name);
    const bounds = boundsOf(holder);
    const within = bounds?.namespaces.find((path) => isUnder(scope.namespace, path));
    const explained = explainAccess(this.#book, name, scope, { seen, within });
    if (bounds === undefined || name !== holder?.principal.name) return explained;
    const role = roleOf(rankAt(caller, seen));
    const may = role === undefined ? "may do nothing on" : `is ${role} of`;
    return {
      role,
      reasons: explained.reasons.map((reason) => reasonAtMost(bounds, reason)),
      summary: `${quote(name)} ${may} ${scopeText(scope)} by this token`,
    };
  }

  createPrincipal(caller: Caller, request: NewPrincipal): Promise<PrincipalView> {
    return this.#principals.create(caller, request);
  }

  /** Rising by name. */
  listPrincipals(caller: Caller, page: Page): { principals: PrincipalView[]; nextPageToken: string } {
    return this.#principals.list(caller, page);
  }

  updatePrincipal(caller: Caller, change: PrincipalChange): Promise<PrincipalView> {
    return this.#principals.update(caller, change);
  }

  deletePrincipal(caller: Caller, name: string): Promise<void> {
    return this.#principals.delete(caller, name);
  }

  addMember(caller: Caller, request: { group: string; member: string }): Promise<void> {
    return this.#principals.addMember(caller, request);
  }

  removeMember(caller: Caller, request: { group: string; member: string }): Promise<void> {
    return this.#principals.removeMember(caller, request);
  }

  bindRole(caller: Caller, request: { principal: string; role: Role; scope: AskedScope }): Promise<Binding> {
    return this.#grants.bind(caller, request);
  }

  unbindRole(caller: Caller, request: { principal: string; scope: AskedScope }): Promise<void> {
    return this.#grants.unbind(caller, request);
  }

  setClosed(caller: Caller, request: { scope: AskedScope; closed: boolean }): Promise<void> {
    return this.#grants.setClosed(caller, request);
  }

  /**
   * Moves a run by `write`, which does nothing and returns undefined when access has changed after the position of the
   * journal that it gets. Throws where the caller may not move it.
   */
  moveRun<T>(
    caller: Caller,
    run: { namespace: string; runId: string },
    to: string,
    write: (accessAt: number) => Promise<T | undefined>,
  ): Promise<T> {
    return this.#book.whileUnchanged(async (state, accessAt) => {
      requireMayMove(state, caller, run, to);
      const result = await write(accessAt);
      return result === undefined ? undefined : { result };
    });
  }

  /**
   * Moves a namespace by `write`, as `moveRun`. Before it, `check` may throw, once the caller is known to have the rights. While it
   * writes, what is closed there is closed at both paths. When it has written, what is left of the old path goes as the journal is followed.
   */
  moveNamespace<T>(
    caller: Caller,
    from: string,
    to: string,
    { check, write }: { check(): Promise<void>; write(accessAt: number): Promise<T | undefined> },
  ): Promise<T> {
    return this.#book.whileUnchanged(async (state, accessAt) => {
      requireMayMoveNamespace(state, caller, from, to);
      await check();
      const result = await this.#book.withMore(accessAtBoth(state, from, to), () => write(accessAt));
      return result === undefined ? undefined : { result };
    });
  }

  /** Throws unless the caller may do what the call declares to everything in the namespace and below it. */
  async requireAllWithin(caller: Caller, namespace: string, verb: string): Promise<void> {
    await this.#book.catchUp();
    requireAllWithin(this.#book.state, caller, namespace, verb);
  }

  getScope(caller: Caller, scope: AskedScope): Promise<ScopeAccess> {
    return this.#grants.get(caller, scope);
  }

  createToken(caller: Caller, request: NewToken): Promise<CreatedToken> {
    return this.#tokens.create(caller, request);
  }

  /** By the time of their creation. "" for one's own. */
  listTokens(caller: Caller, principal: string): TokenView[] {
    return this.#tokens.list(caller, principal);
  }

  revokeToken(caller: Caller, id: string): Promise<void> {
    return this.#tokens.revoke(caller, id);
  }

  /** Newest first, or rising from behind `after`; "" for any principal, action or target. */
  async listAudit(
    caller: Caller,
    request: Page & { principal: string; action: string; target: string; after?: number | undefined },
  ): Promise<{ entries: AuditEntry[]; nextPageToken: string }> {
    authorize(caller);
    const limit = pageSize(request.pageSize);
    const place = request.pageToken === "" ? undefined : pagePlace(request.pageToken);
    const rises = request.after !== undefined;
    const entries = await this.#store.listAudit({
      principal: request.principal || undefined,
      action: request.action || undefined,
      target: request.target || undefined,
      before: rises ? undefined : place,
      after: rises ? (place ?? request.after) : undefined,
      limit: limit + 1,
    });
    const page = entries.slice(0, limit);
    return { entries: page, nextPageToken: entries.length > limit ? String(page.at(-1)!.number) : "" };
  }

  async verifyAudit(caller: Caller): Promise<AuditVerdict> {
    authorize(caller);
    return this.#store.verifyAudit(caller.signal);
  }
}

/** The owner and the anonymous, which were not created. */
function unstored({ principal: { name, kind } }: Caller): PrincipalView {
  const nothing = {
    displayName: "",
    disabled: false,
    createdUs: 0,
    members: [],
    groups: [],
    hasPassword: false,
  };
  return { name, kind, ...nothing };
}

function pagePlace(token: string): number {
  const place = Number(token);
  if (Number.isSafeInteger(place) && place > 0) return place;
  throw new CairnError("invalid", `cannot use page token ${quote(token)}: it is not one of this list`);
}
