import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { Allowance, type AllowanceRate } from "../allowance.ts";

/** Wrong passwords for one name from one address, from one address, and for one name from unknown addresses. */
const PER_PAIR = { burst: 5, everyMs: 10_000 };
const PER_ADDRESS = { burst: 30, everyMs: 2_000 };
const PER_NAME = { burst: 50, everyMs: 5_000 };
/**
 * Attempts for one name from one address that it has signed in from. Others at that address can use them up
 * only by trying continuously, and still guess ten times a minute at most.
 */
const PER_KNOWN_PAIR = { burst: 30, everyMs: 6_000 };
const KEPT_MAX = 10_000;

/** One accepted attempt. */
export interface LoginTry {
  /** The name has been signed in from this address before. */
  isKnown: boolean;
  /** The password was right: it counts against no limit, and the address is known from now on. */
  succeed(): void;
}

/**
 * How often passwords may be tried. No limit is shared by all, which one client could use up: each address
 * has its own, and each name one for the addresses that it has not been signed in from. From an address
 * that is known for a name only the tries of that pair since then count, in a larger allowance, whatever others do.
 *
 * Names that exist and names that do not are kept apart: any number of made-up names pushes out no other.
 */
export class LoginLimits {
  readonly #addresses = new Allowances(PER_ADDRESS);
  readonly #real = { names: new Allowances(PER_NAME), pairs: new Allowances(PER_PAIR) };
  readonly #madeUp = { names: new Allowances(PER_NAME), pairs: new Allowances(PER_PAIR) };
  readonly #knownPairs = new Allowances(PER_KNOWN_PAIR);
  readonly #known = new Set<string>();

  /** Throws `exhausted` (LOGIN_LIMIT). */
  begin(asked: { name: string; address: string; exists: boolean }, nowUs: number): LoginTry {
    const name = asked.name.slice(0, limits.principalNameBytesMax);
    const pair = `${asked.address}\n${name}`;
    const { names, pairs } = asked.exists ? this.#real : this.#madeUp;
    const isKnown = asked.exists && this.#known.has(pair);
    const allowances = isKnown
      ? [this.#knownPairs.get(pair, nowUs)]
      : [pairs.get(pair, nowUs), this.#addresses.get(asked.address, nowUs), names.get(name, nowUs)];
    takeAll(allowances, nowUs);
    return {
      isKnown,
      succeed: () => {
        for (const allowance of allowances) allowance.giveBack();
        this.#remember(pair);
      },
    };
  }

  #remember(pair: string): void {
    this.#known.delete(pair);
    this.#known.add(pair);
    if (this.#known.size > KEPT_MAX) this.#known.delete(this.#known.keys().next().value!);
  }
}

/** One per key. The one that was used longest ago makes room. */
class Allowances {
  readonly #rate: AllowanceRate;
  readonly #byKey = new Map<string, Allowance>();

  constructor(rate: AllowanceRate) {
    this.#rate = rate;
  }

  get(key: string, nowUs: number): Allowance {
    const allowance = this.#byKey.get(key) ?? new Allowance(this.#rate, nowUs);
    this.#byKey.delete(key);
    this.#byKey.set(key, allowance);
    if (this.#byKey.size > KEPT_MAX) this.#byKey.delete(this.#byKey.keys().next().value!);
    return allowance;
  }
}

/** From each of them, or from none. */
function takeAll(allowances: readonly Allowance[], nowUs: number): void {
  for (const [i, allowance] of allowances.entries()) {
    const waitMs = allowance.take(nowUs);
    if (waitMs === 0) continue;
    for (const taken of allowances.slice(0, i)) taken.giveBack();
    throw loginLimit(waitMs);
  }
}

function loginLimit(waitMs: number): CairnError {
  return new CairnError("exhausted", "cannot check the password: too many attempts", {
    reason: "LOGIN_LIMIT",
    retryAfterMs: waitMs,
    hint: "wait before you try again",
  });
}
