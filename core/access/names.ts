import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { requireText } from "../types/check.ts";
import type { StoredPrincipal } from "../ports/access-store.ts";
import type { AuditRecord } from "../ports/access-store.ts";
import type { Scope } from "../types/scope.ts";
import type { AccessState } from "./state.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]*$/;
/** Names of principals that have no row; also in upper case, so that no principal can be confused with them. */
const RESERVED: ReadonlySet<string> = new Set(["owner", "anonymous", "everyone"]);

/** Throws `invalid` unless it is a valid name of a principal. */
export function requireName(name: string): string {
  const cause = RESERVED.has(name.toLowerCase())
    ? "it is reserved"
    : NAME.test(name) && name.length <= limits.principalNameBytesMax
      ? undefined
      : "it is not a valid name";
  if (cause === undefined) return name;
  throw new CairnError("invalid", `cannot use principal name ${quote(name)}: ${cause}`, {
    hint: `a name has up to ${limits.principalNameBytesMax} letters, digits, ".", "_", "@", "+" and "-", and begins with a letter or digit`,
  });
}

export function requireDisplayName(text: string): string {
  return requireText(text, limits.nameBytesMax, "display name");
}

export function getPrincipal(state: AccessState, name: string): StoredPrincipal {
  const principal = state.principals.get(name);
  if (principal === undefined) throw new CairnError("not-found", `cannot find principal ${quote(name)}`);
  return principal;
}

/** For people: `namespace "a/b"`, `run "…"`, `artifact "x" of run "…"`, `the root`. */
export function scopeText({ namespace, runId, artifact }: Scope): string {
  if (artifact !== undefined) return `artifact ${quote(artifact)} of run ${quote(runId!)}`;
  if (runId !== undefined) return `run ${quote(runId)}`;
  return namespace === "" ? "the root" : `namespace ${quote(namespace)}`;
}

/** What an audit record about a scope has as target and facts: "/" is the root. */
export function scopeRecord(scope: Scope): Pick<AuditRecord, "target" | "facts"> {
  const { namespace, runId, artifact } = scope;
  if (runId === undefined) return { target: namespace === "" ? "/" : namespace, facts: {} };
  return { target: runId, facts: { namespace, ...(artifact !== undefined && { artifact }) } };
}
