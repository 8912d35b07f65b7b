import { timingSafeEqual } from "node:crypto";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireAtMost, requireText } from "../../types/check.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import type { Follower } from "../../journal/follower.ts";
import type { StoredToken } from "../../ports/access-store.ts";
import { administersRoot } from "../administrators.ts";
import { auditRecord } from "../audit/audit-record.ts";
import type { AccessBook, Holder, Plan } from "../book.ts";
import { boundsOf } from "../bounds.ts";
import { authorize, authorizeCall, type Caller, type Identity } from "../caller.ts";
import { endFirstToken, firstTokenOf } from "./first-token.ts";
import {
  hashSecret,
  isExpired,
  isUnbounded,
  mintToken,
  narrowed,
  SESSION_SECRET,
  TOKEN_SECRET,
  viewToken,
  type Mint,
  type MintedToken,
} from "./mint-token.ts";
import { getPrincipal } from "../names.ts";
import { badPassword, type PasswordChecks, type Proof } from "../passwords/password-checks.ts";
import type { AccessState } from "../state.ts";
import { endedFacts, endTokens, lineOf, mayStillMake } from "./token-family.ts";
import { holderOf, TokenRights } from "./token-rights.ts";
import { makeRoom } from "./token-room.ts";
import type { CreatedSession, CreatedToken, NewToken, ShownSession, TokenView } from "../views.ts";

const SESSION_NAME = "web session";
const SESSION_DAYS = 1;
const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;
const FLUSH_MS = 60_000;

/** Secrets that identify a principal. Only their hash is kept, and they are found by it. */
export class Tokens {
  readonly #book: AccessBook;
  readonly #follower: Follower;
  readonly #checks: PasswordChecks;
  /** Ids and when they were used, where the store does not know yet. */
  readonly #used = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> = Promise.resolve();

  constructor(book: AccessBook, follower: Follower, checks: PasswordChecks) {
    this.#book = book;
    this.#follower = follower;
    this.#checks = checks;
    // What could not be written stays and is tried again.
    this.#timer = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_MS).unref();
  }

  identify(secret: string): Identity | Promise<Identity> {
    return this.#find(secret, TOKEN_SECRET, (token) => this.#identify(token));
  }

  identifySession(shown: ShownSession): Identity | Promise<Identity> {
    return this.#find(shown.secret, SESSION_SECRET, (token) => {
      if ("pageKey" in shown && !sameText(token.pageHash ?? "", hashSecret(shown.pageKey))) {
        throw badCredential("it is not of this page");
      }
      return this.#identify(token);
    });
  }

  async create(caller: Caller, request: NewToken): Promise<CreatedToken> {
    const name = requireText(request.name, limits.nameBytesMax, "token name");
    requireAtMost(request.namespaces.length, limits.tokenNamespacesMax, "namespaces of a token");
    const namespaces = [...new Set(request.namespaces.map((path) => parseNamespace(path, { root: true })))];
    requireDays(request.days, limits.tokenDaysMax);
    const proof = await this.#checks.prove(caller, {
      password: request.password,
      what: "create a token",
      field: "password",
    });
    return this.#book.change((state, nowUs) => {
      const principal = this.#ownName(caller, request.principal);
      const { kind, disabled } = getPrincipal(state, principal);
      if (kind === "group" || disabled) {
        throw new CairnError(
          "precondition",
          `cannot create a token for ${quote(principal)}: it is ${disabled ? "disabled" : "a group"}`,
        );
      }
      const asked = { role: request.role, namespaces };
      const maker = makerOf(state, caller, proof, { principal, ...asked });
      const bounds = narrowed(asked, maker.parent);
      const days = requireDays(request.days, maker.daysMax);
      const mint = { kind: "token" as const, principal, name, ...bounds };
      return this.#plan(caller, maker, mint, { nowUs, days });
    });
  }

  createSession(caller: Caller): Promise<CreatedSession> {
    return this.#book.change((state, nowUs) => {
      authorizeCall(caller);
      const parent = holderOf(caller);
      if (parent === undefined) throw noToken("open a session");
      const { role, namespaces } = parent.token;
      const asked = {
        kind: "session" as const,
        principal: parent.principal.name,
        name: SESSION_NAME,
        role,
        namespaces,
      };
      const maker = { parent, passwordOf: undefined, replacesFirst: false };
      const plan = this.#plan(caller, { ...maker, daysMax: SESSION_DAYS }, asked, {
        nowUs,
        days: SESSION_DAYS,
      });
      return { ...plan, result: { ...plan.result, pageKey: plan.result.pageKey! } };
    });
  }

  /** A bounded token sees only itself: it was handed out so that it can do little. */
  list(caller: Caller, asked: string): TokenView[] {
    const principal = this.#ownName(caller, asked);
    const { state } = this.#book;
    getPrincipal(state, principal);
    const holder = holderOf(caller);
    const isNarrow = boundsOf(holder) !== undefined && !administers(caller);
    const tokens = [...state.tokensOf(principal)]
      .map((id) => state.tokens.get(id)!)
      .filter((token) => !isNarrow || lineOf(state, token).some(({ id }) => id === holder?.token.id));
    return tokens.sort((a, b) => a.createdUs - b.createdUs || (a.id < b.id ? -1 : 1)).map(viewToken);
  }

  revoke(caller: Caller, id: string): Promise<void> {
    return this.#book.change((state, nowUs) => {
      authorizeCall(caller);
      const token = state.tokens.get(id);
      if (token === undefined || !(mayEnd(state, holderOf(caller), token) || administers(caller))) {
        throw new CairnError("not-found", `cannot find token ${quote(id)}`);
      }
      const changes = endTokens(state, [id]);
      const facts = { principal: token.principal, token: id, ...endedFacts(changes, id) };
      return {
        changes,
        audit: [auditRecord(caller, nowUs, "revoke-token", id, facts)],
        result: undefined,
      };
    });
  }

  /** Revokes the token the call was made with. */
  logOut(caller: Caller): Promise<void> {
    return this.#book.change((state, nowUs) => {
      const holder = holderOf(caller);
      if (holder === undefined) throw noToken("log out");
      const { id } = holder.token;
      const changes = endTokens(state, [id]);
      const facts = { token: id, ...endedFacts(changes, id) };
      return {
        changes,
        audit: [auditRecord(caller, nowUs, "log-out", caller.principal.name, facts)],
        result: undefined,
      };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#flush();
    } catch (thrown) {
      // A storage that can no longer write has reported that already; this does not justify an unclean stop.
      if (CairnError.from(thrown).code !== "unavailable") throw thrown;
    }
  }

  #find<T>(secret: string, form: RegExp, found: (token: StoredToken) => T): T | Promise<T> {
    if (!form.test(secret)) throw badCredential("it is not a valid token");
    const hashed = hashSecret(secret);
    const token = this.#book.state.tokensByHash.get(hashed);
    return token === undefined ? this.#findElsewhere(hashed).then(found) : found(token);
  }

  /** Another process may have created it a moment ago. */
  async #findElsewhere(hashed: string): Promise<StoredToken> {
    await this.#follower.catchUpAfterRest();
    const token = this.#book.state.tokensByHash.get(hashed);
    if (token === undefined) throw badCredential("it is not a valid token");
    return token;
  }

  #identify(token: StoredToken): Identity {
    const nowUs = this.#book.nowUs();
    if (isExpired(token, nowUs)) throw badCredential("it has expired");
    const principal = this.#book.state.principals.get(token.principal);
    if (principal === undefined || principal.kind === "group" || principal.disabled) {
      throw badCredential("its principal is disabled");
    }
    if (!mayStillMake(this.#book.state, token)) {
      throw badCredential("who made it is not an administrator any more");
    }
    this.#use(token, nowUs);
    return {
      principal: { kind: principal.kind, name: principal.name },
      rights: new TokenRights(this.#book, token.id),
      tokenId: token.id,
    };
  }

  #plan(
    caller: Caller,
    { parent, passwordOf, replacesFirst }: Maker,
    asked: Omit<Mint, "parent" | "passwordOf" | "expiresUs">,
    { nowUs, days }: { nowUs: number; days: number },
  ): Plan<CreatedToken & Pick<MintedToken, "pageKey">> {
    const { state } = this.#book;
    const expiresUs = Math.min(nowUs + days * DAY_US, parent?.token.expiresUs ?? Number.POSITIVE_INFINITY);
    const mint = { ...asked, parent: parent?.token.id, passwordOf, expiresUs };
    const room = makeRoom(state, mint, nowUs);
    const { secret, pageKey, token } = mintToken(mint, nowUs);
    const facts = {
      principal: token.principal,
      token: token.id,
      kind: token.kind,
      parent: token.parent ?? (passwordOf === undefined ? "none" : "password"),
      ...(token.role !== undefined && { role: token.role }),
      ...(token.namespaces.length > 0 && { namespaces: token.namespaces.join(" ") }),
    };
    const first = replacesFirst ? endFirstToken(state, caller, nowUs) : { changes: [], audit: [] };
    return {
      changes: [...room, ...first.changes, { do: "put-token", token }],
      audit: [auditRecord(caller, nowUs, "create-token", token.id, facts), ...first.audit],
      result: { secret, pageKey, token: viewToken(token) },
    };
  }

  /** "" is the caller itself; tokens of others are for administrators of the root. */
  #ownName(caller: Caller, asked: string): string {
    authorizeCall(caller);
    const own = holderOf(caller)?.principal.name;
    const name = asked === "" ? own : asked;
    if (name === undefined) {
      throw new CairnError("invalid", `cannot use a token of the ${caller.principal.kind}: it has none`, {
        hint: "name the principal",
      });
    }
    if (name !== own) authorize({ ...caller, permission: "administer" });
    return name;
  }

  #use(token: StoredToken, nowUs: number): void {
    const minuteUs = nowUs - (nowUs % MINUTE_US);
    if (token.lastUsedUs !== undefined && token.lastUsedUs >= minuteUs) return;
    token.lastUsedUs = minuteUs;
    this.#used.set(token.id, minuteUs);
  }

  #flush(): Promise<void> {
    this.#flushing = this.#flushing
      .catch(() => undefined)
      .then(async () => {
        const uses = [...this.#used].map(([id, lastUsedUs]) => ({
          do: "use-token" as const,
          id,
          lastUsedUs,
        }));
        if (uses.length === 0) return;
        await this.#book.change(() => ({ changes: uses, audit: [], result: undefined }));
        for (const { id, lastUsedUs } of uses) if (this.#used.get(id) === lastUsedUs) this.#used.delete(id);
      });
    return this.#flushing;
  }
}

/** What a new token comes from. */
interface Maker {
  /** It has no more rights, ends no later, and ends with it. */
  parent: Holder | undefined;
  passwordOf: string | undefined;
  daysMax: number;
  /** It replaces the first administrator's token. */
  replacesFirst: boolean;
}

function makerOf(
  state: AccessState,
  caller: Caller,
  proof: Proof | undefined,
  asked: Pick<StoredToken, "principal" | "role" | "namespaces">,
): Maker {
  const parent = holderOf(caller);
  const isForAdministrator = isUnbounded(asked) && administersRoot(state, asked.principal);
  const replacesFirst = isForAdministrator && firstTokenOf(state, caller) !== undefined;
  if (proof !== undefined) {
    if (state.principals.get(proof.name)?.password !== proof.kept) throw badPassword("create a token");
    const daysMax = limits.passwordTokenDaysMax;
    return { parent: undefined, passwordOf: proof.name, daysMax, replacesFirst };
  }
  if (replacesFirst) {
    return { parent: undefined, passwordOf: undefined, daysMax: limits.passwordTokenDaysMax, replacesFirst };
  }
  return { parent, passwordOf: undefined, daysMax: limits.tokenDaysMax, replacesFirst };
}

/** One's own, and what was made with the token. A bounded one ends no other: it was handed out so that it can do little. */
function mayEnd(state: AccessState, holder: Holder | undefined, asked: StoredToken): boolean {
  if (holder === undefined) return false;
  const { token, principal } = holder;
  if (lineOf(state, asked).some(({ id }) => id === token.id)) return true;
  return principal.name === asked.principal && isUnbounded(token);
}

function administers(caller: Caller): boolean {
  return caller.rights.may("administer", { namespace: "" });
}

function requireDays(days: number, max: number): number {
  if (Number.isInteger(days) && days >= 0 && days <= max) return days || limits.tokenDaysDefault;
  throw new CairnError("invalid", `cannot create a token for "${days}" days: the most is ${max}`);
}

function noToken(what: string): CairnError {
  return new CairnError("precondition", `cannot ${what}: the call was made without a token`, {
    reason: "NO_TOKEN",
  });
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

function badCredential(cause: string): CairnError {
  return new CairnError("unauthenticated", `cannot accept the credential: ${cause}`, {
    reason: "BAD_CREDENTIAL",
    hint: "send the header `authorization: Bearer TOKEN` with a token that CreateToken, LogIn or the first start of the server gave out",
  });
}
