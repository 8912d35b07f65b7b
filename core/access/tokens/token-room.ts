import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { AccessChange, StoredToken } from "../../ports/access-store.ts";
import { isExpired, isUnbounded, type Mint } from "./mint-token.ts";
import { requireRoom } from "../principals.ts";
import type { AccessState } from "../state.ts";
import { descendantsOf, endTokens, lineOf } from "./token-family.ts";

/**
 * Which limit of its principal a token counts towards. Each limit is separate, so that a leaked token uses up neither the
 * limit of logins nor that of tokens which its principal makes.
 */
type Share = "child" | "login" | "own";

const SHARES: Readonly<Record<Share, number>> = {
  child: limits.childTokensPerPrincipalMax,
  login: limits.loginsPerPrincipalMax,
  own: limits.tokensPerPrincipalMax - limits.childTokensPerPrincipalMax - limits.loginsPerPrincipalMax,
};

/**
 * The tokens to remove so that there is room for one more: expired ones, and for a login or a session the one
 * that was used longest ago. Throws `exhausted` (LIMIT_EXCEEDED) when there is no room then.
 */
export function makeRoom(state: AccessState, asked: Mint, nowUs: number): AccessChange[] {
  const { principal } = asked;
  const isFull = state.tokens.size >= limits.tokensMax;
  const stored = [...state.tokensOf(principal)].map((id) => state.tokens.get(id)!);
  const expired = (isFull ? [...state.tokens.values()] : stored).filter((token) => isExpired(token, nowUs));
  requireRoom(state.tokens.size - expired.length, limits.tokensMax, "tokens");
  const ended = new Set(familyExcess(state, asked, nowUs));
  const share = shareOf(asked);
  const alike = stored.filter(
    (token) => shareOf(token) === share && !isExpired(token, nowUs) && !ended.has(token.id),
  );
  if (alike.length >= SHARES[share]) {
    if (share !== "login") requireRoom(alike.length, SHARES[share], `${NAMES[share]} of ${quote(principal)}`);
    ended.add(longestUnused(alike).id);
  }
  const gone = stored.length >= SHARES[share] || isFull ? expired.map(({ id }) => id) : [];
  return endTokens(state, [...gone, ...ended]);
}

const NAMES = { child: "tokens made with other tokens", own: "tokens" } as const;

function shareOf({ kind, parent }: Pick<StoredToken, "kind" | "parent">): Share {
  if (parent !== undefined) return "child";
  return kind === "login" || kind === "session" ? "login" : "own";
}

/** Ids of sessions that make room in the family of the token it is made with. */
function familyExcess(state: AccessState, asked: Mint, nowUs: number): string[] {
  const parent = asked.parent === undefined ? undefined : state.tokens.get(asked.parent);
  if (parent === undefined) return [];
  const ended: string[] = [];
  for (const ancestor of lineOf(state, parent)) {
    const max = isUnbounded(ancestor) ? limits.tokenFamilyMax : limits.boundedTokenFamilyMax;
    const family = [...descendantsOf(state, ancestor.id)]
      .filter((id) => !ended.includes(id))
      .map((id) => state.tokens.get(id)!)
      .filter((token) => !isExpired(token, nowUs));
    if (family.length < max) continue;
    const sessions = asked.kind === "session" ? family.filter(({ kind }) => kind === "session") : [];
    if (sessions.length === 0) throw familyFull(ancestor, max);
    ended.push(longestUnused(sessions).id);
  }
  return ended;
}

function familyFull({ id }: StoredToken, max: number): CairnError {
  return new CairnError(
    "exhausted",
    `cannot make another token with token ${quote(id)}: it has made ${max}, which is the most`,
    {
      reason: "LIMIT_EXCEEDED",
      facts: { limit: String(max) },
      hint: "revoke some of them, or make tokens with your password",
    },
  );
}

function longestUnused(tokens: readonly StoredToken[]): StoredToken {
  const usedUs = ({ lastUsedUs, createdUs }: StoredToken) => Math.max(lastUsedUs ?? 0, createdUs);
  return tokens.reduce((oldest, token) => (usedUs(token) < usedUs(oldest) ? token : oldest));
}
