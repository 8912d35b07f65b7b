import type { Role } from "../types/role.ts";
import type { Scope } from "../types/scope.ts";

/**
 * Holds who may do what, and the audit of all changes.
 *
 * Core keeps the whole of it in memory and decides there. Several processes may do so at once: every change is in the
 * Journal as CHANGED.access, which each of them follows, and a change is refused that was planned on an outdated
 * state.
 *
 * Every method is one transaction, durable when its promise resolves. Input has been checked against
 * lang/limits.ts. A store that can no longer write throws `unavailable` and continues to read.
 *
 * A store that destroys something (purgeRun, deleteNamespace and similar) removes the bindings and
 * closures on it and below it in the same transaction. One that moves a run (moveRun) moves those on it and on
 * its artifacts with it, one that moves a namespace (moveNamespace) those on it and below it, and the limits of tokens.
 */
export interface AccessStore {
  /** Everything but the audit, in no order, as it is at `position` of the Journal. */
  loadAccess(): Promise<AccessContent & { position: number }>;
  /**
   * Applies the changes in their order and appends the records, all or nothing, and returns the position from which on
   * they apply. With `basedOn`, does nothing and returns undefined when access may have changed after that position.
   * Throws `not-found` for a binding or closure on a run that does not exist, or not in that namespace: it may have been
   * purged or moved a moment ago. Removing those of a purged run changes nothing.
   */
  changeAccess(
    changes: readonly AccessChange[],
    audit: readonly AuditRecord[],
    basedOn?: number,
  ): Promise<number | undefined>;

  /** Newest first; with `after` rising from after it. */
  listAudit(request: ListAudit): Promise<AuditEntry[]>;
  /** Recomputes the chain. At most 100 problems; the first names the first altered entry. */
  verifyAudit(signal?: AbortSignal): Promise<AuditVerdict>;
  /** The number of entries, and the hash of the last; CHAIN_START when there is none. */
  getAuditHead(): Promise<{ count: number; hash: string }>;
}

export interface AccessContent {
  principals: StoredPrincipal[];
  members: Member[];
  bindings: Binding[];
  closed: Scope[];
  tokens: StoredToken[];
}

export interface StoredPrincipal {
  name: string;
  kind: "user" | "service" | "group";
  displayName: string;
  disabled: boolean;
  createdUs: number;
  /** What a password is checked against; see core/access/passwords/password.ts. */
  password: string | undefined;
}

export interface Member {
  group: string;
  member: string;
}

/** One per principal and scope. The principal may be "everyone". */
export interface Binding {
  principal: string;
  role: Role;
  scope: Scope;
  createdUs: number;
  createdBy: string;
}

/**
 * How a token was created: by CreateToken, for a password by LogIn, as a browser's cookie, or to the
 * first administrator.
 */
export type TokenKind = "token" | "login" | "session" | "first";

export interface StoredToken {
  /** Public. */
  id: string;
  kind: TokenKind;
  principal: string;
  /** Id of the token it was made with, and ends with; undefined when it was made with a password or by the owner. */
  parent: string | undefined;
  /** The principal whose password it was made with. When that password changes, it ends. */
  passwordOf: string | undefined;
  name: string;
  /** SHA-256 of the secret, lower-case hex; unique. The secret itself is kept nowhere. */
  hash: string;
  /** Of a session: SHA-256 of the key that its page shows besides the secret. */
  pageHash: string | undefined;
  /** The most it may do; undefined for no bound. */
  role: Role | undefined;
  /** Only in these and below; empty for everywhere. */
  namespaces: readonly string[];
  createdUs: number;
  /** undefined for never. */
  expiresUs: number | undefined;
  /** Kept to the minute. */
  lastUsedUs: number | undefined;
}

/** `put` inserts or replaces; deleting a missing entry changes nothing. */
export type AccessChange =
  | { do: "put-principal"; principal: StoredPrincipal }
  /** With its tokens, bindings and memberships on either side. */
  | { do: "delete-principal"; name: string }
  | { do: "add-member"; group: string; member: string }
  | { do: "remove-member"; group: string; member: string }
  | { do: "put-binding"; binding: Binding }
  | { do: "delete-binding"; principal: string; scope: Scope }
  | { do: "set-closed"; scope: Scope; closed: boolean }
  | { do: "put-token"; token: StoredToken }
  | { do: "delete-token"; id: string }
  /** It was used at that time, or later: another process may have a later one. */
  | { do: "use-token"; id: string; lastUsedUs: number };

/**
 * An action, who did it, and to what. Never holds a secret. It is written in the same transaction
 * as the change it records.
 */
export interface AuditRecord {
  principal: string;
  /** The id of the token that was sent; undefined or "" for none. */
  token?: string | undefined;
  /** Where the call came from; undefined or "" for none. */
  address?: string | undefined;
  /** Such as "bind-role", "log-in", "purge-run". */
  action: string;
  target: string;
  facts: Readonly<Record<string, string>>;
  timeUs: number;
}

/** Numbers begin with 1 and have no holes. */
export interface AuditEntry extends AuditRecord {
  number: number;
  /** "" for none, and in entries from before it was recorded. */
  token: string;
  address: string;
  /** Lower-case hex; see core/access/audit/audit-chain.ts. */
  hash: string;
}

export interface ListAudit {
  /** undefined for any. */
  principal: string | undefined;
  action: string | undefined;
  target: string | undefined;
  /** Only entries with a smaller number; undefined for all. */
  before: number | undefined;
  /** Only entries with a higher number, lowest first; undefined for newest first. */
  after?: number | undefined;
  limit: number;
}

export interface AuditVerdict {
  entries: number;
  problems: string[];
}
