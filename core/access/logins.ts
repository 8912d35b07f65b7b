import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import { Allowance } from "./allowance.ts";
import type { AccessBook } from "./book.ts";
import { makeRoom, mintToken, viewToken } from "./mint-token.ts";
import type { Passwords } from "./password.ts";
import type { CreatedToken } from "./views.ts";

const PER_NAME = { burst: 5, everyMs: 10_000 };
const IN_ALL = { burst: 100, everyMs: 100 };
/** Refusals that are written down; the others are counted. */
const WRITTEN = { burst: 20, everyMs: 10_000 };
const NAMES_MAX = 10_000;
const HOUR_US = 3_600_000_000;
const TOKEN_NAME = "log-in";

/**
 * Exchanges a password for a token. A name that is unknown, has no password or is disabled is answered
 * as a wrong password is, after the same work; and wrong ones may not be tried often.
 */
export class Logins {
  readonly #book: AccessBook;
  readonly #passwords: Passwords;
  readonly #inAll: Allowance;
  readonly #written: Allowance;
  readonly #perName = new Map<string, Allowance>();
  #unwritten = 0;

  constructor(book: AccessBook, passwords: Passwords) {
    this.#book = book;
    this.#passwords = passwords;
    this.#inAll = new Allowance(IN_ALL, book.nowUs());
    this.#written = new Allowance(WRITTEN, book.nowUs());
  }

  async logIn({ name, password }: { name: string; password: string }): Promise<CreatedToken> {
    const tries = this.#allowanceOf(name);
    requireAllowed(tries.take(this.#book.nowUs()));
    requireAllowed(this.#inAll.take(this.#book.nowUs()));
    const isLong = Buffer.byteLength(password) > limits.passwordBytesMax;
    const kept = this.#book.state.principals.get(name)?.password;
    const matches = await this.#passwords.matches(isLong ? "" : password, kept);
    const created = matches && !isLong ? await this.#create(name, kept!) : undefined;
    if (created === undefined) throw await this.#refuse(name);
    // Only wrong ones count.
    tries.giveBack();
    return created;
  }

  /** undefined when something has changed while the password was looked at. */
  #create(name: string, kept: string): Promise<CreatedToken | undefined> {
    return this.#book.change((state, nowUs) => {
      const principal = state.principals.get(name);
      if (principal === undefined || principal.disabled || principal.password !== kept) {
        return { changes: [], audit: [], result: undefined };
      }
      const expiresUs = nowUs + limits.loginHours * HOUR_US;
      const bounds = { role: undefined, namespaces: [] };
      const { secret, token } = mintToken({ principal: name, name: TOKEN_NAME, ...bounds, expiresUs }, nowUs);
      const facts = { token: token.id };
      return {
        changes: [...makeRoom(state, name, nowUs), { do: "put-token", token }],
        audit: [{ principal: name, action: "log-in", target: name, facts, timeUs: nowUs }],
        result: { secret, token: viewToken(token) },
      };
    });
  }

  async #refuse(name: string): Promise<CairnError> {
    const refusal = new CairnError("unauthenticated", "cannot log in: the name or the password is wrong", {
      reason: "BAD_CREDENTIAL",
    });
    if (this.#written.take(this.#book.nowUs()) > 0) {
      this.#unwritten++;
      return refusal;
    }
    const facts = this.#unwritten === 0 ? {} : { not_written_before: String(this.#unwritten) };
    this.#unwritten = 0;
    await this.#book.change((state, nowUs) => {
      // What is no known name may be a password that was typed into the wrong field.
      const target = state.principals.has(name) ? name : "unknown";
      const record = { principal: "anonymous", action: "log-in-refused", target, facts, timeUs: nowUs };
      return { changes: [], audit: [record], result: undefined };
    });
    return refusal;
  }

  #allowanceOf(name: string): Allowance {
    const key = name.slice(0, limits.principalNameBytesMax);
    let allowance = this.#perName.get(key);
    if (allowance === undefined) {
      allowance = new Allowance(PER_NAME, this.#book.nowUs());
      this.#perName.set(key, allowance);
      if (this.#perName.size > NAMES_MAX) this.#perName.delete(this.#perName.keys().next().value!);
    }
    return allowance;
  }
}

function requireAllowed(waitMs: number): void {
  if (waitMs === 0) return;
  throw new CairnError("exhausted", "cannot log in: too many attempts", {
    reason: "LOGIN_LIMIT",
    retryAfterMs: waitMs,
    hint: "wait before you try again",
  });
}
