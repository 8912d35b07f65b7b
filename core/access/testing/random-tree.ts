import type { AccessContent, Binding, StoredPrincipal, StoredToken } from "../../ports/access-store.ts";
import { ROLES, type Role } from "../../types/role.ts";
import type { Scope } from "../../types/scope.ts";

/** Numbers from a seed, so that a failure can be reproduced: mulberry32. */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** Names that are beginnings of each other: "a" is above "a/b", "ab" is beside it. */
const PATHS = ["", "a", "ab", "a/b", "a/bc", "a/b/a", "c"];
const USERS = ["u0", "u1"];
const GROUPS = ["g0", "g1"];
const RUNS: Scope[] = ["a", "a/b", "a/b/a", "c"].map((namespace, i) => ({ namespace, runId: `run${i}` }));
const ARTIFACTS: Scope[] = RUNS.slice(1, 3).flatMap(({ namespace, runId }) => [
  { namespace, runId: runId!, artifact: "x" },
  { namespace, runId: runId!, artifact: "y" },
]);

/** Every scope that a tree may have rules for, and some that never have any. */
export const SCOPES: readonly Scope[] = [...PATHS.map((namespace) => ({ namespace })), ...RUNS, ...ARTIFACTS];

export const TOKENS = ["t0", "t1", "t2"];

/** Which principals exist, who is in which group, what is bound and what is closed, and what tokens allow. */
export function randomTree(random: (below: number) => number): AccessContent {
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const role = (): Role => pick(ROLES);
  const principals = [...USERS, ...GROUPS].map((name): StoredPrincipal => ({
    name,
    kind: name.startsWith("g") ? "group" : "user",
    displayName: "",
    disabled: random(12) === 0,
    createdUs: 0,
    password: undefined,
  }));
  const members = GROUPS.flatMap((group) => USERS.map((member) => ({ group, member }))).filter(
    () => random(2) === 0,
  );
  const bindings = new Map<string, Binding>();
  for (let i = random(7); i > 0; i--) {
    const at = random(SCOPES.length);
    const principal = pick([...USERS, ...GROUPS, "everyone"]);
    bindings.set(`${principal} ${at}`, {
      principal,
      role: role(),
      scope: SCOPES[at]!,
      createdUs: 0,
      createdBy: "",
    });
  }
  const closed = new Set<Scope>();
  for (let i = random(4); i > 0; i--) closed.add(pick(SCOPES));
  const tokens = TOKENS.map((id, i): StoredToken => ({
    id,
    kind: "token",
    parent: undefined,
    passwordOf: undefined,
    principal: USERS[i % USERS.length]!,
    name: "",
    hash: id,
    pageHash: undefined,
    role: i === 0 || random(2) === 0 ? undefined : role(),
    namespaces: i === 0 || random(2) === 0 ? [] : Array.from({ length: 1 + random(2) }, () => pick(PATHS)),
    createdUs: 0,
    expiresUs: undefined,
    lastUsedUs: undefined,
  }));
  return { principals, members, bindings: [...bindings.values()], closed: [...closed], tokens };
}
