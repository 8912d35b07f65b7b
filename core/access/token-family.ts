import type { AccessChange, StoredToken } from "../ports/access-store.ts";
import type { AccessState } from "./state.ts";

/** Ids of all that was made with the token, and with those in turn. */
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

/** The token and those it was made with in turn, down to the one that has no parent. */
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

/** Takes the tokens away with all that was made with them. */
export function endTokens(state: AccessState, ids: Iterable<string>): AccessChange[] {
  const ended = new Set<string>();
  for (const id of ids) {
    ended.add(id);
    for (const below of descendantsOf(state, id)) ended.add(below);
  }
  return [...ended].map((id) => ({ do: "delete-token", id }));
}

/**
 * Takes away what the principal's password has made, but for the line of the token that the change itself is
 * made with. Tokens that others made for the principal stay.
 */
export function endPasswordFamily(
  state: AccessState,
  principal: string,
  kept: StoredToken | undefined,
): AccessChange[] {
  const spared = new Set(kept === undefined ? [] : lineOf(state, kept).map(({ id }) => id));
  const made = state.tokens.values().filter(({ passwordOf }) => passwordOf === principal);
  const ids = [...made].map(({ id }) => id).filter((id) => !spared.has(id));
  return endTokens(state, ids);
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
