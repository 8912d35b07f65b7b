import { timingSafeEqual } from "node:crypto";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { requireAtMost, requireText } from "../model/check.ts";
import { parseNamespace } from "../model/path.ts";
import type { AccessStore, StoredToken } from "../ports/access-store.ts";
import { auditRecord } from "./audit-record.ts";
import type { AccessBook, Holder } from "./book.ts";
import { authorize, authorizeCall, type Caller, type Identity } from "./caller.ts";
import { hashSecret, isExpired, makeRoom, mintToken, narrowed, viewToken } from "./mint-token.ts";
import { getPrincipal } from "./names.ts";
import { TokenRights } from "./token-rights.ts";
import type { CreatedToken, NewToken, TokenView } from "./views.ts";

const SECRET = /^cairn_[\w-]{43}$/;
const MINUTE_US = 60_000_000;
const DAY_US = 86_400_000_000;
const FLUSH_MS = 60_000;

/** Secrets that stand for a principal. Only their hash is kept, and they are found by it. */
export class Tokens {
  readonly #book: AccessBook;
  readonly #store: AccessStore;
  /** Ids and when they were used, where the store does not know yet. */
  readonly #used = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;
  #flushing: Promise<void> = Promise.resolve();

  constructor(book: AccessBook, store: AccessStore) {
    this.#book = book;
    this.#store = store;
    // What could not be written stays and is tried again.
    this.#timer = setInterval(() => void this.#flush().catch(() => undefined), FLUSH_MS).unref();
  }

  identify(secret: string): Identity {
    if (!SECRET.test(secret)) throw badCredential("it is not a valid token");
    const hashed = hashSecret(secret);
    const token = this.#book.state.tokensByHash.get(hashed);
    if (token === undefined || !sameText(token.hash, hashed)) throw badCredential("it is not a valid token");
    const nowUs = this.#book.nowUs();
    if (isExpired(token, nowUs)) throw badCredential("it has expired");
    const principal = this.#book.state.principals.get(token.principal);
    if (principal === undefined || principal.kind === "group" || principal.disabled) {
      throw badCredential("its principal is disabled");
    }
    this.#use(token, nowUs);
    return {
      principal: { kind: principal.kind, name: principal.name },
      rights: new TokenRights(this.#book, token.id),
      tokenId: token.id,
    };
  }

  async create(caller: Caller, request: NewToken): Promise<CreatedToken> {
    const name = requireText(request.name, limits.nameBytesMax, "token name");
    requireAtMost(request.namespaces.length, limits.tokenNamespacesMax, "namespaces of a token");
    const namespaces = [...new Set(request.namespaces.map((path) => parseNamespace(path, { root: true })))];
    const days = requireDays(request.days);
    return this.#book.change((state, nowUs) => {
      const principal = this.#ownName(caller, request.principal);
      const { kind, disabled } = getPrincipal(state, principal);
      if (kind === "group" || disabled) {
        throw new CairnError(
          "precondition",
          `cannot create a token for ${quote(principal)}: it is ${disabled ? "disabled" : "a group"}`,
        );
      }
      const bounds = narrowed({ role: request.role, namespaces }, holderOf(caller));
      const expiresUs = nowUs + days * DAY_US;
      const { secret, token } = mintToken({ principal, name, ...bounds, expiresUs }, nowUs);
      const facts = {
        principal,
        token: token.id,
        ...(token.role !== undefined && { role: token.role }),
        ...(token.namespaces.length > 0 && { namespaces: token.namespaces.join(" ") }),
      };
      return {
        changes: [...makeRoom(state, principal, nowUs), { do: "put-token", token }],
        audit: [auditRecord(caller, nowUs, "create-token", token.id, facts)],
        result: { secret, token: viewToken(token) },
      };
    });
  }

  list(caller: Caller, asked: string): TokenView[] {
    const principal = this.#ownName(caller, asked);
    const { state } = this.#book;
    getPrincipal(state, principal);
    const tokens = [...state.tokensOf(principal)].map((id) => state.tokens.get(id)!);
    return tokens.sort((a, b) => a.createdUs - b.createdUs || (a.id < b.id ? -1 : 1)).map(viewToken);
  }

  revoke(caller: Caller, id: string): Promise<void> {
    return this.#book.change((state, nowUs) => {
      authorizeCall(caller);
      const token = state.tokens.get(id);
      if (token === undefined || !(mayEnd(holderOf(caller), token) || administers(caller))) {
        throw new CairnError("not-found", `cannot find token ${quote(id)}`);
      }
      const facts = { principal: token.principal, token: id };
      return {
        changes: [{ do: "delete-token", id }],
        audit: [auditRecord(caller, nowUs, "revoke-token", id, facts)],
        result: undefined,
      };
    });
  }

  /** Revokes the token the call was made with. */
  logOut(caller: Caller): Promise<void> {
    return this.#book.change((_, nowUs) => {
      const holder = holderOf(caller);
      if (holder === undefined) {
        throw new CairnError("precondition", "cannot log out: the call was made without a token", {
          reason: "NO_TOKEN",
        });
      }
      const { id } = holder.token;
      return {
        changes: [{ do: "delete-token", id }],
        audit: [auditRecord(caller, nowUs, "log-out", caller.principal.name, { token: id })],
        result: undefined,
      };
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    try {
      await this.#flush();
    } catch (thrown) {
      // A storage that can write no more has said so to whoever needed it; this is not worth an unclean stop.
      if (CairnError.from(thrown).code !== "unavailable") throw thrown;
    }
  }

  /** "" is the caller itself; anybody else's tokens are for administrators of the root. */
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
        const uses = [...this.#used].map(([id, lastUsedUs]) => ({ id, lastUsedUs }));
        if (uses.length === 0) return;
        await this.#store.touchTokens(uses);
        for (const { id, lastUsedUs } of uses) if (this.#used.get(id) === lastUsedUs) this.#used.delete(id);
      });
    return this.#flushing;
  }
}

/** Who holds the token a call was made with; undefined when it was made without one. */
export function holderOf(caller: Caller): Holder | undefined {
  return caller.rights instanceof TokenRights ? caller.rights.holder() : undefined;
}

/** One's own. A token that was narrowed ends no other: it was given away so that it can do little. */
function mayEnd(holder: Holder | undefined, { id, principal }: StoredToken): boolean {
  if (holder === undefined || holder.principal.name !== principal) return false;
  const { token } = holder;
  return token.id === id || (token.role === undefined && token.namespaces.length === 0);
}

function administers(caller: Caller): boolean {
  return caller.rights.may("administer", { namespace: "" });
}

function requireDays(days: number): number {
  if (Number.isInteger(days) && days >= 0 && days <= limits.tokenDaysMax)
    return days || limits.tokenDaysDefault;
  throw new CairnError(
    "invalid",
    `cannot create a token for "${days}" days: the most is ${limits.tokenDaysMax}`,
  );
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
