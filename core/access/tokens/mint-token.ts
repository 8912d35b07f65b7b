import { hash } from "node:crypto";
import { newRunId, newToken } from "#base/ids.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { isUnder } from "#lang/namespace-path.ts";
import type { StoredToken } from "../../ports/access-store.ts";
import type { Holder } from "../book.ts";
import { rankOf } from "../../types/role.ts";
import type { TokenView } from "../views.ts";

const PREFIX = "cairn_";
/** Of another form than a token: a cookie is never accepted as a token. */
const SESSION_PREFIX = "cairn_session_";
const PAGE_PREFIX = "cairn_page_";

export const TOKEN_SECRET = /^cairn_[\w-]{43}$/;
export const SESSION_SECRET = /^cairn_session_[\w-]{43}$/;

export interface MintedToken {
  secret: string;
  pageKey: string | undefined;
  token: StoredToken;
}

/** The requested properties of a new token. */
export type Mint = Omit<StoredToken, "id" | "hash" | "pageHash" | "createdUs" | "lastUsedUs">;

/** New secrets with their stored form. Only a session has the key of a page. */
export function mintToken(asked: Mint, nowUs: number): MintedToken {
  const isSession = asked.kind === "session";
  const secret = newToken(isSession ? SESSION_PREFIX : PREFIX);
  const pageKey = isSession ? newToken(PAGE_PREFIX) : undefined;
  const pageHash = pageKey && hashSecret(pageKey);
  const id = newRunId(nowUs / 1000);
  return {
    secret,
    pageKey,
    token: { id, ...asked, hash: hashSecret(secret), pageHash, createdUs: nowUs, lastUsedUs: undefined },
  };
}

/** Field by field: the stored form of the secret is left out. */
export function viewToken(token: StoredToken): TokenView {
  const { id, kind, principal, parent, name, role, namespaces, createdUs, expiresUs, lastUsedUs } = token;
  return { id, kind, principal, parent, name, role, namespaces, createdUs, expiresUs, lastUsedUs };
}

/** A token has no more rights than the one it was made with. */
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

/** Whether it may do all that its principal may. */
export function isUnbounded({ role, namespaces }: Pick<StoredToken, "role" | "namespaces">): boolean {
  return (role === undefined || role === "admin") && namespaces.length === 0;
}

export function isExpired({ expiresUs }: StoredToken, nowUs: number): boolean {
  return expiresUs !== undefined && nowUs >= expiresUs;
}

export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}
