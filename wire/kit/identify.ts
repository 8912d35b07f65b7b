import { authorizeCall, type Caller, type Identity } from "#core/access/caller.ts";
import type { Permission } from "#core/types/permission.ts";
import type { Account } from "#core/quota/account.ts";
import { CairnError } from "#lang/errors.ts";
import { answering } from "#wire/kit/answering.ts";
import type { Sender } from "#wire/kit/sender.ts";
import type { Traffic } from "#wire/kit/traffic.ts";

/** What every wire needs to authenticate callers. */
export interface Admission {
  /**
   * Throws or rejects with `unauthenticated` for a credential that is wrong; a missing one makes an anonymous principal.
   * A promise only if another service or the store must be asked: frequent calls do not wait.
   */
  authenticate(sender: Sender): Identity | Promise<Identity>;
  /** What all wires share. */
  traffic: Traffic;
}

export interface Identified {
  /** With the permission of what is called. */
  caller: Caller;
  /** Pays for the call. */
  account: Account;
}

/**
 * Authenticates the caller, for every wire and before a body is read. Also counts the call. Throws or rejects with
 * `unauthenticated`, `forbidden`, and `exhausted` (QUOTA).
 */
export function identify(
  { authenticate, traffic }: Admission,
  permission: Permission | undefined,
  sender: Sender,
): Identified | Promise<Identified> {
  if (permission === undefined)
    throw new CairnError("forbidden", "cannot call a method without a permission");
  answering.getStore()?.note(permission);
  const admit = (identity: Identity): Identified => {
    const caller = { ...identity, permission, address: sender.address };
    const account = traffic.quotas.admit(caller, sender.address);
    authorizeCall(caller);
    return { caller, account };
  };
  const refuse = (thrown: unknown): never => {
    traffic.quotas.admitAnonymous(sender.address);
    throw thrown;
  };
  let identity: Identity | Promise<Identity>;
  try {
    identity = authenticate(sender);
  } catch (thrown) {
    return refuse(thrown);
  }
  return identity instanceof Promise ? identity.then(admit, refuse) : admit(identity);
}
