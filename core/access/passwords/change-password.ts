import { CairnError } from "#lang/errors.ts";
import { addressKey } from "./address-key.ts";
import { auditRecord } from "../audit/audit-record.ts";
import type { AccessBook } from "../book.ts";
import type { Caller } from "../caller.ts";
import { isUnbounded } from "../tokens/mint-token.ts";
import { badPassword, type PasswordChecks } from "./password-checks.ts";
import { requirePassword, type Passwords } from "./password.ts";
import { endedFacts, endPasswordFamily } from "../tokens/token-family.ts";
import { holderOf } from "../tokens/token-rights.ts";

/**
 * Users change their own password. Tokens and sessions made with the old one end with it, except the token of the
 * call, which stays valid.
 */
export async function changePassword(
  { book, checks, passwords }: { book: AccessBook; checks: PasswordChecks; passwords: Passwords },
  caller: Caller,
  request: { oldPassword: string; newPassword: string },
): Promise<void> {
  const { name } = requirePerson(caller);
  requirePassword(request.newPassword);
  const kept = await checks.check(caller, { name, password: request.oldPassword });
  if (kept === undefined) throw badPassword("change the password");
  const from = { address: addressKey(caller.address), isKnown: true };
  const password = await passwords.hash(request.newPassword, from);
  return book.change((state, nowUs) => {
    const { token } = requirePerson(caller);
    const before = state.principals.get(name);
    if (before?.password !== kept) throw badPassword("change the password");
    const ended = endPasswordFamily(state, name, token);
    const facts = { password: "changed", ...endedFacts(ended) };
    return {
      changes: [{ do: "put-principal", principal: { ...before, password } }, ...ended],
      audit: [auditRecord(caller, nowUs, "change-password", name, facts)],
      result: undefined,
    };
  });
}

function requirePerson(caller: Caller) {
  const holder = holderOf(caller);
  if (holder?.principal.password === undefined) {
    throw new CairnError("precondition", "cannot change the password: the caller has none", {
      reason: "NO_PASSWORD",
      hint: "an administrator gives a user the first one: UpdatePrincipal, `cairn access user password NAME`",
    });
  }
  if (!isUnbounded(holder.token)) {
    throw new CairnError("forbidden", "cannot change the password with a token that has bounds", {
      reason: "NO_RIGHT",
      hint: "log in first: LogIn, `cairn login --user NAME`",
    });
  }
  return { name: holder.principal.name, token: holder.token };
}
