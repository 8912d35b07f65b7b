import type { Binding, StoredToken } from "../ports/access-store.ts";
import type { Role } from "../types/role.ts";
import type { Scope } from "../types/scope.ts";

/** What access returns to callers: never a password, a secret or its hash. */
export interface PrincipalView {
  name: string;
  kind: "user" | "service" | "group" | "everyone" | "owner" | "anonymous";
  displayName: string;
  disabled: boolean;
  /** 0 for those that were not created. */
  createdUs: number;
  /** Of a group, rising. */
  members: readonly string[];
  /** Of any other: the groups it is in, rising. */
  groups: readonly string[];
  hasPassword: boolean;
}

export type TokenView = Omit<StoredToken, "hash" | "pageHash" | "passwordOf">;

export interface WhoAmI {
  principal: PrincipalView;
  /** The kind of credential; undefined for the owner and the anonymous. */
  token: TokenView | undefined;
  /** The caller's own bindings, those of its groups and of everyone. */
  bindings: readonly Binding[];
}

/** A scope as a request names it: a namespace, or a run, or an artifact of a run; "" for what is not given. */
export interface AskedScope {
  namespace: string;
  runId: string;
  artifact: string;
}

export interface Explanation {
  /** undefined when it may do nothing there. */
  role: Role | undefined;
  reasons: readonly AccessReason[];
  /** In one sentence. */
  summary: string;
}

/** One binding that reaches the scope, or would if nothing cut it off. */
export interface AccessReason {
  binding: Binding;
  /** The group it is through, or "everyone"; undefined when it is the principal's own. */
  through: string | undefined;
  counts: boolean;
  /** The closed scope that cuts it off. */
  cutBy: Scope | undefined;
}

export interface ScopeAccess {
  scope: Scope;
  closed: boolean;
  bindings: readonly Binding[];
}

export interface NewPrincipal {
  name: string;
  kind: "user" | "service" | "group";
  displayName: string;
  /** Only for a user; "" for none. */
  password: string;
  /** The caller's own, which a login or a session must send to set a password. */
  yourPassword?: string;
}

export interface PrincipalChange {
  name: string;
  displayName?: string;
  /** "" takes the password away. */
  password?: string;
  /** The caller's own, which a login or a session must send to change a password. */
  yourPassword?: string;
  disabled?: boolean;
}

export interface NewToken {
  /** "" for the caller itself; another only by administrators of the root. */
  principal: string;
  name: string;
  /** undefined for no bound. */
  role: Role | undefined;
  namespaces: readonly string[];
  /** 0 for the default. */
  days: number;
  /** The caller's own, which makes the token a child of no other. */
  password?: string;
}

export interface CreatedToken {
  /** Shown once and kept nowhere. */
  secret: string;
  token: TokenView;
}

/** The session of a browser. Neither secret is valid without the other, except to read content. */
export interface CreatedSession extends CreatedToken {
  /** Kept by the page, where no other port of the host can read it, and sent with every call. */
  pageKey: string;
}

/** What a browser sends of its session. Without the key of the page it only allows reading content. */
export type ShownSession = { secret: string; pageKey: string } | { secret: string; onlyReads: true };

export interface Page {
  /** 0 for the default. */
  pageSize: number;
  /** "" for the first page. */
  pageToken: string;
}
