import { CairnError } from "../errors.ts";
import type { Permission } from "./permission.ts";

/**
 * Who asks. The owner is whoever sits at the machine the server runs on, as long as it listens to
 * that machine only; an admin came with the admin token.
 */
export interface Principal {
  kind: "owner" | "admin" | "anonymous";
  name: string;
}

export const OWNER: Principal = { kind: "owner", name: "owner" };
export const ADMIN: Principal = { kind: "admin", name: "admin" };
export const ANONYMOUS: Principal = { kind: "anonymous", name: "anonymous" };

/** A principal in one call, with the permission that call's method declares. */
export interface Caller {
  principal: Principal;
  permission: Permission;
}

/**
 * The one place that decides. Every core operation asks with the namespace it touches ("" for the
 * server itself), and every wire asks once before it looks at a request's body.
 */
export function authorize(caller: Caller, namespace: string): void {
  const { principal, permission } = caller;
  if (permission === "public" || principal.kind === "owner" || principal.kind === "admin") return;
  throw new CairnError(
    "unauthenticated",
    `cannot ${permission} in namespace "${namespace}" without a credential`,
    {
      reason: "NO_CREDENTIAL",
      hint: "send the header `authorization: Bearer TOKEN`; a server that others can reach prints its admin token at its first start",
    },
  );
}

/** Namespaces whose runs the caller may find; undefined for all of them. */
export function readableNamespaces(caller: Caller): ReadonlySet<string> | undefined {
  authorize(caller, "");
  return undefined;
}
