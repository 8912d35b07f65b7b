import { CairnError, quote } from "#lang/errors.ts";
import type { Permission } from "../types/permission.ts";
import type { Principal } from "../types/principal.ts";
import { type HiddenArtifacts, type ReadMask, type Scope, ROOT } from "../types/scope.ts";

/**
 * What a credential allows, checked again each time: a token that was revoked or a binding that was removed
 * while a stream is open no longer counts.
 */
export interface Rights {
  /** Throws `unauthenticated` when the credential is no longer valid. */
  may(permission: Permission, scope: Scope): boolean;
  /** Whether there is any scope where it may. */
  mayAnywhere(permission: Permission): boolean;
  /** undefined for everything. */
  readable(): ReadMask | undefined;
  /** By run id, names of artifacts that are closed to the caller, of whatever run. They are few: each is closed on its own. */
  hiddenArtifacts(): HiddenArtifacts;
}

/** Of the owner. */
const ALL_RIGHTS: Rights = {
  may: () => true,
  mayAnywhere: () => true,
  readable: () => undefined,
  hiddenArtifacts: () => new Map(),
};

/** Of a caller without a credential. */
const NO_RIGHTS: Rights = {
  may: (permission) => permission === "public",
  mayAnywhere: (permission) => permission === "public",
  readable: () => ({ id: "nothing", namespaces: new Map([["", false]]), runs: new Map() }),
  hiddenArtifacts: () => new Map(),
};

/** A caller with the rights of its credential. */
export interface Identity {
  principal: Principal;
  rights: Rights;
  /** Of the token that was sent; undefined for the owner and the anonymous. */
  tokenId?: string | undefined;
}

export const OWNER: Identity = { principal: { kind: "owner", name: "owner" }, rights: ALL_RIGHTS };
export const ANONYMOUS: Identity = {
  principal: { kind: "anonymous", name: "anonymous" },
  rights: NO_RIGHTS,
};

/** A caller in one call, with the permission that call's method declares. */
export interface Caller extends Identity {
  permission: Permission;
  /** Where the call comes from; undefined inside the server. */
  address?: string | undefined;
  /** Aborted when the caller disconnects, which ends reads. */
  signal?: AbortSignal | undefined;
}

/**
 * The one place that decides. Every core operation asks with the scope it touches, and every wire asks
 * `authorizeCall` once before it looks at a request's body.
 */
export function authorize(caller: Caller, scope: Scope = ROOT): void {
  if (caller.rights.may(caller.permission, scope)) return;
  throw refusal(caller, scope.namespace);
}

/** Whether the caller may do somewhere what the method declares. */
export function authorizeCall(caller: Caller): void {
  if (!caller.rights.mayAnywhere(caller.permission)) throw refusal(caller, undefined);
}

/** Whether the caller may see that the scope exists. */
export function maySee(caller: Caller, scope: Scope): boolean {
  return caller.rights.may("read", scope);
}

/** `namespace` is undefined for a call that would be refused in all of them. */
function refusal({ principal, permission }: Caller, namespace: string | undefined): CairnError {
  if (principal.kind === "anonymous") {
    return new CairnError(
      "unauthenticated",
      `cannot ${permission}${placeOf(namespace)} without a credential`,
      {
        reason: "NO_CREDENTIAL",
        hint: "use `cairn login URL`, or set CAIRN_TOKEN; another user of the server's machine asks the one who started it for a token",
      },
    );
  }
  if (namespace === undefined) {
    return new CairnError(
      "forbidden",
      `cannot ${permission} anywhere on this server: you have no role that allows it`,
      {
        reason: "NO_RIGHT",
        facts: { permission },
        hint: "ask a maintainer of the namespace that you need, or an administrator of the server, for a role there",
      },
    );
  }
  return new CairnError("forbidden", `cannot ${permission}${placeOf(namespace)}: permission denied`, {
    reason: "NO_RIGHT",
    facts: { permission, namespace },
    hint: "ask a maintainer of it for a role there; WhoAmI shows the ones you have",
  });
}

function placeOf(namespace: string | undefined): string {
  if (namespace === undefined) return "";
  return namespace === "" ? " in the root namespace" : ` in namespace ${quote(namespace)}`;
}
