import { authorizeCall, type Caller, type Identity } from "#core/access/caller.ts";
import type { Permission } from "#core/access/permission.ts";
import type { Account } from "#core/quota/account.ts";
import { CairnError } from "#lang/errors.ts";
import { answering } from "#wire/kit/answering.ts";
import type { Sender } from "#wire/kit/sender.ts";
import type { Traffic } from "#wire/kit/traffic.ts";

/** What every wire needs to find out who calls. */
export interface Admission {
  /** Throws `unauthenticated` for a credential that is wrong; a missing one makes an anonymous principal. */
  authenticate(sender: Sender): Identity;
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
 * Who calls, for every wire and before anything of a body is read. Also counts the call. Throws
 * `unauthenticated`, `forbidden`, and `exhausted` (QUOTA).
 */
export function identify(
  admission: Admission,
  permission: Permission | undefined,
  sender: Sender,
): Identified {
  if (permission === undefined)
    throw new CairnError("forbidden", "cannot call a method without a permission");
  answering.getStore()?.note(permission);
  const caller = { ...authenticated(admission, sender), permission, address: sender.address };
  const account = admission.traffic.quotas.admit(caller, sender.address);
  authorizeCall(caller);
  return { caller, account };
}

function authenticated({ authenticate, traffic }: Admission, sender: Sender): Identity {
  try {
    return authenticate(sender);
  } catch (thrown) {
    traffic.quotas.admitStranger(sender.address);
    throw thrown;
  }
}
