import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { auditRecord } from "../audit/audit-record.ts";
import type { AccessBook } from "../book.ts";
import type { Caller } from "../caller.ts";
import { mintToken, viewToken, type MintedToken } from "../tokens/mint-token.ts";
import type { PasswordChecks } from "./password-checks.ts";
import { makeRoom } from "../tokens/token-room.ts";
import type { CreatedToken } from "../views.ts";

const HOUR_US = 3_600_000_000;
const TOKEN_NAME = "log-in";

type LoggedIn = CreatedToken & Pick<MintedToken, "pageKey">;

/** Exchanges a password for a token, or for the session of a browser. All failures have the same answer. */
export class Logins {
  readonly #book: AccessBook;
  readonly #checks: PasswordChecks;

  constructor(book: AccessBook, checks: PasswordChecks) {
    this.#book = book;
    this.#checks = checks;
  }

  async logIn(
    caller: Caller,
    request: { name: string; password: string },
    kind: "login" | "session",
  ): Promise<LoggedIn> {
    // The name or the password may have been set by another process a moment ago.
    await this.#book.catchUp();
    const kept = await this.#checks.check(caller, request);
    const created = kept === undefined ? undefined : await this.#create(caller, request.name, kept, kind);
    if (created !== undefined) return created;
    throw new CairnError("unauthenticated", "cannot log in: the name or the password is wrong", {
      reason: "BAD_CREDENTIAL",
    });
  }

  /** undefined when something has changed while the password was checked. */
  #create(
    caller: Caller,
    name: string,
    kept: string,
    kind: "login" | "session",
  ): Promise<LoggedIn | undefined> {
    return this.#book.change((state, nowUs) => {
      const principal = state.principals.get(name);
      if (principal === undefined || principal.disabled || principal.password !== kept) {
        return { changes: [], audit: [], result: undefined };
      }
      const asked = {
        kind,
        principal: name,
        parent: undefined,
        passwordOf: name,
        name: TOKEN_NAME,
        role: undefined,
        namespaces: [],
        expiresUs: nowUs + limits.loginHours * HOUR_US,
      };
      const room = makeRoom(state, asked, nowUs);
      const { secret, pageKey, token } = mintToken(asked, nowUs);
      const self = { ...caller, principal: { kind: "user" as const, name } };
      return {
        changes: [...room, { do: "put-token", token }],
        audit: [auditRecord(self, nowUs, "log-in", name, { token: token.id })],
        result: { secret, pageKey, token: viewToken(token) },
      };
    });
  }
}
