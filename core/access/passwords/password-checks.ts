import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { addressKey } from "./address-key.ts";
import { Allowance } from "./allowance.ts";
import { auditRecord } from "../audit/audit-record.ts";
import type { AccessBook } from "../book.ts";
import type { Caller } from "../caller.ts";
import { LoginLimits } from "./login-limits/login-limits.ts";
import type { Passwords } from "./password.ts";
import { holderOf } from "../tokens/token-rights.ts";

/** Refusals that are audited; the others are counted. */
const WRITTEN = { burst: 20, everyMs: 10_000 };

/** A correct password, and its stored form. */
export interface Proof {
  name: string;
  kept: string;
}

/** For a caller with a valid token: the password that must be sent with it is wrong. */
export function badPassword(what: string): CairnError {
  return new CairnError("forbidden", `cannot ${what}: your password is wrong`, { reason: "BAD_PASSWORD" });
}

/**
 * The one place where a password of a request is checked: for a login, a token, a change of password. A name
 * that is unknown, has no password or is disabled takes the same work as a wrong password.
 */
export class PasswordChecks {
  readonly #book: AccessBook;
  readonly #passwords: Passwords;
  readonly #limits = new LoginLimits();
  readonly #written: Allowance;
  #unwritten = 0;

  constructor(book: AccessBook, passwords: Passwords) {
    this.#book = book;
    this.#passwords = passwords;
    this.#written = new Allowance(WRITTEN, book.nowUs());
  }

  /** The stored form of the password when it is correct, undefined when it is not. Throws `exhausted` (LOGIN_LIMIT). */
  async check(
    caller: Caller,
    { name, password }: { name: string; password: string },
  ): Promise<string | undefined> {
    const address = addressKey(caller.address);
    const principal = this.#book.state.principals.get(name);
    const exists = principal !== undefined;
    const attempt = this.#limits.begin({ name, address, exists }, this.#book.nowUs());
    const isLong = Buffer.byteLength(password) > limits.passwordBytesMax;
    const kept = principal?.password;
    const from = { address, isKnown: attempt.isKnown, signal: caller.signal };
    const matches = await this.#passwords.matches(isLong ? "" : password, kept, from);
    if (matches && !isLong && !principal!.disabled) {
      attempt.succeed();
      return kept;
    }
    await this.#write(caller, name);
    return undefined;
  }

  /**
   * The caller's own password, when it was given in this call; undefined when it was not and is not required. A login or
   * a session creates nothing that outlives it without a password: a stolen one must not give permanent access.
   */
  async prove(
    caller: Caller,
    { password = "", what, field }: { password: string | undefined; what: string; field: string },
  ): Promise<Proof | undefined> {
    const holder = holderOf(caller);
    if (holder === undefined) return undefined;
    const { name } = holder.principal;
    if (password !== "") {
      const kept = await this.check(caller, { name, password });
      if (kept === undefined) throw badPassword(what);
      return { name, kept };
    }
    const { kind } = holder.token;
    if (kind === "token" || kind === "first") return undefined;
    throw new CairnError("precondition", `cannot ${what} with a ${kind} alone: your password is required`, {
      reason: "PASSWORD_NEEDED",
      hint: `give your password in the same call (field \`${field}\`), or call with a token that was made for this`,
    });
  }

  async #write(caller: Caller, name: string): Promise<void> {
    if (this.#written.take(this.#book.nowUs()) > 0) {
      this.#unwritten++;
      return;
    }
    const facts = this.#unwritten === 0 ? {} : { not_written_before: String(this.#unwritten) };
    this.#unwritten = 0;
    await this.#book.change((state, nowUs) => {
      // An unknown name may be a password that was typed into the wrong field.
      const target = state.principals.has(name) ? name : "unknown";
      return {
        changes: [],
        audit: [auditRecord(caller, nowUs, "log-in-refused", target, facts)],
        result: undefined,
      };
    });
  }
}
