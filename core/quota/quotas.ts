import { limits } from "#lang/limits.ts";
import type { Permission } from "../types/permission.ts";
import type { Principal } from "../types/principal.ts";
import { Account, type QuotaLimits } from "./account.ts";

/** How many accounts are checked to find one that can be dropped. */
const LOOK_AT_MAX = 16;

/**
 * Keeps one principal from using up shared resources. Every wire calls this once per call, when it knows the
 * caller and before it reads the body.
 *
 * Calls without a credential and public calls are counted by address: a flood of public calls must not use up
 * the quota of a principal, nor a busy principal block health probes.
 */
export class Quotas {
  readonly #limits: QuotaLimits;
  readonly #nowMs: () => number;
  readonly #principals: Accounts;
  /** Separate, so that no number of addresses evicts a principal. */
  readonly #addresses: Accounts;
  #refused = 0;

  /** `nowMs` is a steady clock with any origin. */
  constructor(quota: QuotaLimits, nowMs: () => number) {
    this.#limits = quota;
    this.#nowMs = nowMs;
    const open = (owner: string) => new Account(owner, this.#limits, this.#nowMs);
    this.#principals = new Accounts(limits.accountsMax, open);
    this.#addresses = new Accounts(limits.accountsMax, open);
  }

  /** Counts one request. Throws `exhausted` (QUOTA, with `retryAfterMs`) when the caller has made too many. */
  admit(
    { principal, permission }: { principal: Principal; permission: Permission },
    address: string | undefined,
  ): Account {
    const byAddress = permission === "public" || principal.kind === "anonymous";
    return this.#count(
      byAddress
        ? this.#addresses.get(`address ${address ?? "unknown"}`)
        : this.#principals.get(`${principal.kind} ${principal.name}`),
    );
  }

  /** Counts a request whose credential was wrong, so that guessing is limited. Throws like `admit`. */
  admitAnonymous(address: string | undefined): void {
    this.#count(this.#addresses.get(`address ${address ?? "unknown"}`));
  }

  /** Since the start of the server. */
  get refused(): number {
    return this.#refused;
  }

  get accounts(): number {
    return this.#principals.size + this.#addresses.size;
  }

  #count(account: Account): Account {
    try {
      account.request();
    } catch (thrown) {
      this.#refused++;
      throw thrown;
    }
    return account;
  }
}

/** A bounded number of accounts without streams. An unused one is dropped before any other. */
class Accounts {
  readonly #byOwner = new Map<string, Account>();
  readonly #sizeMax: number;
  readonly #open: (owner: string) => Account;

  constructor(sizeMax: number, open: (owner: string) => Account) {
    this.#sizeMax = sizeMax;
    this.#open = open;
  }

  get size(): number {
    return this.#byOwner.size;
  }

  get(owner: string): Account {
    let account = this.#byOwner.get(owner);
    if (account === undefined) {
      if (this.#byOwner.size >= this.#sizeMax) this.#forgetOne();
      account = this.#open(owner);
      this.#byOwner.set(owner, account);
    }
    return account;
  }

  /**
   * Checked ones move to the end, so that the next search begins after them. One with open
   * streams is never dropped: the streams take more memory than it does, and are bounded themselves.
   */
  #forgetOne(): void {
    let idle: string | undefined;
    let looked = 0;
    for (const [owner, account] of this.#byOwner) {
      this.#byOwner.delete(owner);
      if (account.isUnused) return;
      this.#byOwner.set(owner, account);
      if (account.openStreams === 0) idle ??= owner;
      if (++looked === LOOK_AT_MAX) break;
    }
    if (idle !== undefined) this.#byOwner.delete(idle);
  }
}
