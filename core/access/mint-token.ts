import { hash } from "node:crypto";
import { newRunId, newToken } from "#base/ids.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { isUnder } from "../model/path.ts";
import type { AccessChange, StoredToken } from "../ports/access-store.ts";
import type { Holder } from "./book.ts";
import { requireRoom } from "./principals.ts";
import { rankOf } from "./role.ts";
import type { AccessState } from "./state.ts";
import type { TokenView } from "./views.ts";

const PREFIX = "cairn_";

/** A new secret with what is kept of it. */
export function mintToken(
  asked: Pick<StoredToken, "principal" | "name" | "role" | "namespaces" | "expiresUs">,
  nowUs: number,
): { secret: string; token: StoredToken } {
  const secret = newToken(PREFIX);
  const id = newRunId(nowUs / 1000);
  return {
    secret,
    token: { id, ...asked, hash: hashSecret(secret), createdUs: nowUs, lastUsedUs: undefined },
  };
}

/** Field by field: what is kept of the secret stays here. */
export function viewToken(token: StoredToken): TokenView {
  const { id, principal, name, role, namespaces, createdUs, expiresUs, lastUsedUs } = token;
  return { id, principal, name, role, namespaces, createdUs, expiresUs, lastUsedUs };
}

/** Takes out what has expired where there is no room for one more, and throws when there is none then. */
export function makeRoom(state: AccessState, principal: string, nowUs: number): AccessChange[] {
  const own = state.tokensOf(principal);
  if (own.size < limits.tokensPerPrincipalMax && state.tokens.size < limits.tokensMax) return [];
  const expired = [...state.tokens.values()].filter(
    (token) =>
      isExpired(token, nowUs) && (token.principal === principal || state.tokens.size >= limits.tokensMax),
  );
  const ownExpired = expired.filter((token) => token.principal === principal).length;
  requireRoom(own.size - ownExpired, limits.tokensPerPrincipalMax, `tokens of ${quote(principal)}`);
  requireRoom(state.tokens.size - expired.length, limits.tokensMax, "tokens");
  return expired.map(({ id }) => ({ do: "delete-token", id }));
}

/** No token is worth more than the one it was made with. */
export function narrowed(
  asked: Pick<StoredToken, "role" | "namespaces">,
  holder: Holder | undefined,
): Pick<StoredToken, "role" | "namespaces"> {
  if (holder === undefined) return asked;
  const { token, rankMax, namespaces: allowed } = holder;
  const outside = asked.namespaces.find((path) => !allowed.some((outer) => isUnder(path, outer)));
  if (rankOf(asked.role) > rankMax || outside !== undefined) {
    const what = outside === undefined ? `role ${asked.role!}` : `namespace ${quote(outside)}`;
    throw new CairnError("forbidden", `cannot create a token for ${what}: the one you call with has less`, {
      reason: "TOKEN_TOO_STRONG",
    });
  }
  return {
    role: asked.role ?? token.role,
    namespaces: asked.namespaces.length === 0 ? token.namespaces : asked.namespaces,
  };
}

export function isExpired({ expiresUs }: StoredToken, nowUs: number): boolean {
  return expiresUs !== undefined && nowUs >= expiresUs;
}

export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}
