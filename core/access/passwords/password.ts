import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { PasswordQueue } from "./login-limits/password-queue.ts";

const derive = promisify(argon2);

/** What a guess costs: memory and rounds over it. */
export interface PasswordCost {
  memoryKib: number;
  passes: number;
}

const COST: PasswordCost = { memoryKib: 32 << 10, passes: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
/** Each takes a thread of the pool and its memory for a tenth of a second. */
const OTHERS = { perOwnerMax: 2, allMax: 2, waitingPerOwnerMax: 32 };
/** Has a thread of its own, so that known users do not wait for others. */
const KNOWN = { perOwnerMax: 1, allMax: 1, waitingPerOwnerMax: 32 };
const WAITING_MAX = 256;
const FORM = /^argon2id\$m=(\d+),t=(\d+),p=(\d+)\$([\w-]+)\$([\w-]+)$/;

/** Where a password comes from: addresses take turns. */
export interface PasswordSource {
  address: string;
  /** From a user who has signed in from there before, or an administrator. */
  isKnown: boolean;
  /** Aborted when the caller disconnects: a waiting check is dropped. */
  signal?: AbortSignal | undefined;
}

/** Throws `invalid` or `exhausted` unless it can be used as a password. The text is never shown. */
export function requirePassword(password: string): string {
  if (!password.isWellFormed())
    throw new CairnError("invalid", "cannot use the password: it is not valid Unicode");
  const bytes = Buffer.byteLength(password);
  if (bytes > limits.passwordBytesMax) {
    throw new CairnError(
      "exhausted",
      `cannot use the password: ${bytes} bytes are more than ${limits.passwordBytesMax}`,
    );
  }
  if (password.length < limits.passwordCharactersMin) {
    throw new CairnError("invalid", "cannot use the password: it is too short", {
      hint: `a password has at least ${limits.passwordCharactersMin} characters; a sentence is a good one`,
    });
  }
  return password;
}

/**
 * Turns passwords into their stored form: argon2id with a salt each, worked out on the thread pool. The
 * kept text carries its parameters, so that they may grow later: argon2id$m=32768,t=3,p=1$SALT$KEY.
 */
export class Passwords {
  readonly #cost: PasswordCost;
  readonly #known = new PasswordQueue(KNOWN, WAITING_MAX);
  readonly #others = new PasswordQueue(OTHERS, WAITING_MAX);

  /** Passwords that were kept at another cost are checked at theirs. */
  constructor(cost: PasswordCost = COST) {
    this.#cost = cost;
  }

  async hash(password: string, from: PasswordSource): Promise<string> {
    const { memoryKib, passes } = this.#cost;
    const salt = randomBytes(SALT_BYTES);
    const asked = { salt, memory: memoryKib, passes, parallelism: 1, bytes: KEY_BYTES };
    const key = await this.#derive(password, asked, from);
    const cost = `m=${memoryKib},t=${passes},p=1`;
    return `argon2id$${cost}$${salt.toString("base64url")}$${key.toString("base64url")}`;
  }

  /** Without a stored password the answer is no, after the same work. */
  async matches(password: string, kept: string | undefined, from: PasswordSource): Promise<boolean> {
    const parts = kept === undefined ? undefined : FORM.exec(kept);
    if (parts === undefined || parts === null) {
      await this.hash(password, from);
      return false;
    }
    const [, memory, passes, parallelism, salt, key] = parts;
    const expected = Buffer.from(key!, "base64url");
    const cost = {
      salt: Buffer.from(salt!, "base64url"),
      memory: Number(memory),
      passes: Number(passes),
      parallelism: Number(parallelism),
      bytes: expected.length,
    };
    const derived = await this.#derive(password, cost, from);
    return timingSafeEqual(derived, expected);
  }

  async #derive(
    password: string,
    cost: { salt: Buffer; memory: number; passes: number; parallelism: number; bytes: number },
    from: PasswordSource,
  ): Promise<Buffer> {
    const leave = await this.#enter(from);
    try {
      return await derive("argon2id", {
        // The same password may be typed as different sequences of code points.
        message: password.normalize("NFKC"),
        nonce: cost.salt,
        memory: cost.memory,
        passes: cost.passes,
        parallelism: cost.parallelism,
        tagLength: cost.bytes,
      });
    } finally {
      leave();
    }
  }

  async #enter({ address, isKnown, signal }: PasswordSource): Promise<() => void> {
    try {
      return await (isKnown ? this.#known : this.#others).enter(address, signal);
    } catch {
      throw tooMany();
    }
  }
}

function tooMany(): CairnError {
  return new CairnError("exhausted", "cannot check a password: too many are waiting", {
    reason: "LOGIN_LIMIT",
    retryAfterMs: 1_000,
  });
}
