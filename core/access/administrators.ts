import { CairnError } from "#lang/errors.ts";
import type { Member, StoredPrincipal } from "../ports/access-store.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { ROOT } from "../types/scope.ts";
import { EVERYONE, type AccessState } from "./state.ts";

/** What is about to be removed. */
export interface Without {
  /** The binding of this principal on the root. */
  binding?: string;
  /** This principal, be it a group. */
  principal?: string;
  membership?: Member;
}

/** Whether the principal has the role admin on the root: by itself, through a group or through everyone. */
export function administersRoot(state: AccessState, name: string): boolean {
  const isEnabled = (one: string) => state.principals.get(one)?.disabled === false;
  if (!isEnabled(name) || state.principals.get(name)!.kind === "group") return false;
  for (const { principal, role } of state.bindingsOn(ROOT)) {
    if (role !== "admin") continue;
    if (principal === EVERYONE || principal === name) return true;
    if (isEnabled(principal) && state.membersOf(principal).has(name)) return true;
  }
  return false;
}

/** Whether the members of a group have the role admin on the root because of it. */
export function administersAsGroup(state: AccessState, group: string): boolean {
  if (state.principals.get(group)?.disabled !== false) return false;
  return [...state.bindingsOn(ROOT)].some(({ principal, role }) => principal === group && role === "admin");
}

/** Whether a principal that can call administers the root. */
export function hasAdministrator(state: AccessState, without: Without = {}): boolean {
  const isThere = (name: string) =>
    name !== without.principal && state.principals.get(name)?.disabled === false;
  const mayCall = (name: string) => isThere(name) && state.principals.get(name)!.kind !== "group";
  for (const { principal, role } of state.bindingsOn(ROOT)) {
    if (role !== "admin" || principal === without.binding) continue;
    if (principal === EVERYONE) {
      if (state.principals.keys().some(mayCall)) return true;
      continue;
    }
    if (mayCall(principal)) return true;
    if (!isThere(principal)) continue;
    const left = without.membership?.group === principal ? without.membership.member : undefined;
    for (const member of state.membersOf(principal)) if (member !== left && mayCall(member)) return true;
  }
  return false;
}

/** Who administers the root, for the person who starts the server. */
export interface Administrator {
  name: string;
  kind: StoredPrincipal["kind"] | "everyone";
  createdUs: number;
  /** The group that has the role; undefined for a role of its own. */
  group: string | undefined;
  /** Those in effect now. */
  tokens: number;
  /** When the last of them ends; undefined for never. */
  tokensEndUs: number | undefined;
}

/** Those who can call, rising by name; "everyone" if that has the role. */
export function listAdministrators(state: AccessState, nowUs: number): Administrator[] {
  const found = new Map<string, Administrator>();
  const add = (name: string, group?: string): void => {
    const principal = state.principals.get(name);
    if (principal === undefined || principal.disabled || principal.kind === "group" || found.has(name))
      return;
    const { kind, createdUs } = principal;
    found.set(name, { name, kind, createdUs, group, ...tokensOf(state, name, nowUs) });
  };
  for (const { principal, role, createdUs } of state.bindingsOn(ROOT)) {
    if (role !== "admin") continue;
    add(principal);
    if (state.principals.get(principal)?.disabled === false) {
      for (const member of state.membersOf(principal)) add(member, principal);
    }
    if (principal !== EVERYONE) continue;
    const none = { group: undefined, tokens: state.tokens.size, tokensEndUs: undefined };
    found.set(EVERYONE, { name: EVERYONE, kind: EVERYONE, createdUs, ...none });
  }
  return [...found.values()].sort((a, b) => compareCodePoints(a.name, b.name));
}

function tokensOf(
  state: AccessState,
  name: string,
  nowUs: number,
): Pick<Administrator, "tokens" | "tokensEndUs"> {
  const ends = [...state.tokensOf(name)]
    .map((id) => state.tokens.get(id)!.expiresUs ?? Infinity)
    .filter((endUs) => endUs > nowUs);
  const last = Math.max(0, ...ends);
  return { tokens: ends.length, tokensEndUs: last === Infinity ? undefined : last };
}

/** Throws `precondition` when no administrator would be left to undo it. */
export function requireAdministrator(state: AccessState, without: Without): void {
  if (hasAdministrator(state, without) || !hasAdministrator(state)) return;
  throw new CairnError("precondition", "cannot take the last administrator away", {
    reason: "LAST_ADMIN",
    hint: "bind the role admin on the root to another principal first",
  });
}
