import type { AccessChange, StoredToken } from "../../ports/access-store.ts";
import { administersRoot } from "../administrators.ts";
import type { AccessState } from "../state.ts";

/** Ids of all descendants of the token. */
export function descendantsOf(state: AccessState, id: string): Set<string> {
  const found = new Set<string>();
  const open = [id];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const child of state.childrenOf(next)) {
      if (found.has(child)) continue;
      found.add(child);
      open.push(child);
    }
  }
  return found;
}

/** The token and its ancestors, up to the one that has no parent. */
export function lineOf(state: AccessState, token: StoredToken): StoredToken[] {
  const line = [token];
  for (let parent = token.parent; parent !== undefined;) {
    const next = state.tokens.get(parent);
    if (next === undefined) break;
    line.push(next);
    parent = next.parent;
  }
  return line;
}

/**
 * Whether those who made the token, and the tokens that it was made with, may still do so: only administrators of the
 * root make tokens for others. A disabled or demoted one keeps no access through such a token.
 */
export function mayStillMake(state: AccessState, token: StoredToken): boolean {
  return lineOf(state, token).every(({ principal, parent, passwordOf }) => {
    const maker = passwordOf ?? (parent === undefined ? undefined : state.tokens.get(parent)?.principal);
    return maker === undefined || maker === principal || administersRoot(state, maker);
  });
}

/** Removes the tokens with all their descendants. */
export function endTokens(state: AccessState, ids: Iterable<string>): AccessChange[] {
  const ended = new Set<string>();
  for (const id of ids) {
    ended.add(id);
    for (const below of descendantsOf(state, id)) ended.add(below);
  }
  return [...ended].map((id) => ({ do: "delete-token", id }));
}

/**
 * Removes what was made with the principal's password, with all descendants, except the token that the
 * change itself is made with: when its parent ends, it stays valid without one until the next change. Tokens
 * that others made for the principal stay.
 */
export function endPasswordFamily(
  state: AccessState,
  principal: string,
  kept: StoredToken | undefined,
): AccessChange[] {
  const made = state.tokens.values().filter(({ passwordOf }) => passwordOf === principal);
  const ended = endTokens(
    state,
    made.map(({ id }) => id),
  );
  const others = ended.filter((change) => change.do !== "delete-token" || change.id !== kept?.id);
  if (kept === undefined || others.length === ended.length) return ended;
  return [...others, { do: "put-token", token: { ...kept, parent: undefined, passwordOf: principal } }];
}

/** For the audit: which tokens went along with the one that is named, and how many where they are many. */
export function endedFacts(changes: readonly AccessChange[], named?: string): Record<string, string> {
  const ids = changes.flatMap((change) =>
    change.do === "delete-token" && change.id !== named ? [change.id] : [],
  );
  if (ids.length === 0) return {};
  return { ended_count: String(ids.length), ended: ids.slice(0, NAMED_MAX).join(" ") };
}

const NAMED_MAX = 20;
