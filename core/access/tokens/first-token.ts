import { limits } from "#lang/limits.ts";
import type { AccessChange, AuditRecord, StoredToken } from "../../ports/access-store.ts";
import { administersRoot, hasAdministrator } from "../administrators.ts";
import { auditRecord } from "../audit/audit-record.ts";
import type { Plan } from "../book.ts";
import { OWNER, type Caller } from "../caller.ts";
import { isExpired, isUnbounded, mintToken } from "./mint-token.ts";
import { ROOT } from "../../types/scope.ts";
import { EVERYONE, type AccessState } from "../state.ts";
import { endedFacts, endTokens, lineOf, mayStillMake } from "./token-family.ts";
import { holderOf } from "./token-rights.ts";

const FIRST_ADMIN = "admin";
const DAY_US = 86_400_000_000;

/**
 * The first administrator's token, when no administrator can log in: it is for creating a permanent one. It ends
 * when it has made a token or set a password for an administrator of the root, and in any case after a week.
 *
 * Where no principal administers the root, an administrator is created ("admin", or the next free name). If
 * there are administrators but none has a password or a valid token, one of them gets the token.
 */
export function planFirstToken(state: AccessState, nowUs: number): Plan<string | undefined> {
  const administrators = [...state.principals.keys()].filter((name) => administersRoot(state, name)).sort();
  if (administrators.some((name) => hasWayIn(state, name, nowUs))) {
    return { changes: [], audit: [], result: undefined };
  }
  const name = administrators.includes(FIRST_ADMIN) ? FIRST_ADMIN : (administrators[0] ?? freeName(state));
  const { secret, token } = mintToken(
    {
      kind: "first",
      principal: name,
      parent: undefined,
      passwordOf: undefined,
      name: "first",
      role: undefined,
      namespaces: [],
      expiresUs: nowUs + limits.firstTokenDays * DAY_US,
    },
    nowUs,
  );
  const before = [...state.tokensOf(name)].filter((id) => state.tokens.get(id)!.kind === "first");
  return {
    changes: [
      ...(hasAdministrator(state) ? [] : newAdministrator(name, nowUs)),
      ...endTokens(state, before),
      { do: "put-token", token },
    ],
    audit: [auditRecord(OWNER, nowUs, "bootstrap", name, { token: token.id })],
    result: secret,
  };
}

/** The first administrator's token, when the call is made with it or with something that was made with it. */
export function firstTokenOf(state: AccessState, caller: Caller): StoredToken | undefined {
  const holder = holderOf(caller);
  return holder && lineOf(state, holder.token).find(({ kind }) => kind === "first");
}

/** The changes after a call has given an administrator another way to log in. None when it was not made with the first token. */
export function endFirstToken(
  state: AccessState,
  caller: Caller,
  nowUs: number,
): { changes: AccessChange[]; audit: AuditRecord[] } {
  const first = firstTokenOf(state, caller);
  if (first === undefined) return { changes: [], audit: [] };
  const { id, principal } = first;
  const changes = endTokens(state, [id]);
  const facts = { principal, token: id, why: "replaced", ...endedFacts(changes, id) };
  return { changes, audit: [auditRecord(caller, nowUs, "revoke-token", id, facts)] };
}

/**
 * Whether the principal, a member of it where it is a group, or any principal where it is everyone, can call with all its
 * rights without the first administrator's token and what that has made.
 */
export function hasBetterWayIn(state: AccessState, name: string, nowUs: number): boolean {
  if (name === EVERYONE) return [...state.principals.keys()].some((one) => hasOwnWayIn(state, one, nowUs));
  return [name, ...state.membersOf(name)].some((one) => hasOwnWayIn(state, one, nowUs));
}

function hasOwnWayIn(state: AccessState, name: string, nowUs: number): boolean {
  if (state.principals.get(name)?.disabled !== false) return false;
  if (state.principals.get(name)?.password !== undefined) return true;
  return waysIn(state, name, nowUs).some(
    (token) => !lineOf(state, token).some(({ kind }) => kind === "first"),
  );
}

function hasWayIn(state: AccessState, name: string, nowUs: number): boolean {
  return state.principals.get(name)?.password !== undefined || waysIn(state, name, nowUs).length > 0;
}

/** Valid tokens without bounds. A login needs a password, and a session one of these. */
function waysIn(state: AccessState, name: string, nowUs: number): StoredToken[] {
  return [...state.tokensOf(name)]
    .map((id) => state.tokens.get(id)!)
    .filter(({ kind }) => kind === "token" || kind === "first")
    .filter((token) => isUnbounded(token) && !isExpired(token, nowUs) && mayStillMake(state, token));
}

function freeName(state: AccessState): string {
  let name = FIRST_ADMIN;
  for (let n = 2; state.principals.has(name); n++) name = `${FIRST_ADMIN}-${n}`;
  return name;
}

function newAdministrator(name: string, nowUs: number): AccessChange[] {
  const principal = {
    name,
    kind: "user" as const,
    displayName: "",
    disabled: false,
    createdUs: nowUs,
    password: undefined,
  };
  const role = "admin" as const;
  const binding = { principal: name, role, scope: ROOT, createdUs: nowUs, createdBy: OWNER.principal.name };
  return [
    { do: "put-principal", principal },
    { do: "put-binding", binding },
  ];
}
