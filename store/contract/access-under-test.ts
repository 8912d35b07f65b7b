/** Access on a store under test, with helpers to create principals and rights. */
import type { Access } from "#core/access/access.ts";
import { ANONYMOUS, OWNER, type Caller, type Identity } from "#core/access/caller.ts";
import type { Permission } from "#core/types/permission.ts";
import type { Role } from "#core/types/role.ts";
import type { AskedScope, CreatedToken, NewToken } from "#core/access/views.ts";
import type { Follower } from "#core/journal/follower.ts";
import type { Models } from "#core/models/models.ts";
import type { Namespaces } from "#core/runs/namespaces.ts";
import type { Runs } from "#core/runs/runs.ts";
import type { System } from "#core/system/system.ts";
import { CairnError } from "#lang/errors.ts";
import { buildCore, type CoreUnderTest, type CoreUnderTestOptions } from "./core-under-test.ts";
import type { StoresUnderTest } from "./stores.ts";

export const DAY_US = 86_400_000_000;

export interface AccessUnderTest {
  core: CoreUnderTest;
  access: Access;
  follower: Follower;
  runs: Runs;
  models: Models;
  namespaces: Namespaces;
  system: System;
  clock: { us: number; nowUs(): number };
  /** A new user with a token without bounds. */
  user(name: string, password?: string): Promise<Identity>;
  group(name: string, ...members: string[]): Promise<void>;
  token(principal: string, bounds?: Partial<NewToken>): Promise<CreatedToken>;
  /** By the owner. */
  bind(principal: string, role: Role, scope: AskedScope): Promise<void>;
  close(scope: AskedScope): Promise<void>;
  /** Actions with their targets, in the order they were written. */
  audit(): Promise<string[]>;
}

export function as(identity: Identity, permission: Permission): Caller {
  return { ...identity, permission };
}

/** Of a token that is known here; one that would need a read of the store is refused as unknown. */
export function here(identity: Identity | Promise<Identity>): Identity {
  if (!(identity instanceof Promise)) return identity;
  identity.catch(() => undefined);
  throw new CairnError("unauthenticated", "cannot find the token here", { reason: "BAD_CREDENTIAL" });
}

export const ADMIN: Caller = as(OWNER, "administer");
/** A caller without a credential, as in a login. */
export const VISITOR: Caller = as(ANONYMOUS, "public");

export function on(namespace: string, runId = "", artifact = ""): AskedScope {
  return { namespace, runId, artifact };
}

export async function openAccess(
  under: StoresUnderTest,
  options?: CoreUnderTestOptions,
): Promise<AccessUnderTest> {
  const core = await buildCore(under, options);
  const { access, runs, models, namespaces, system, clock, follower } = core;
  const token: AccessUnderTest["token"] = (principal, bounds) =>
    access.createToken(ADMIN, { principal, name: "", role: undefined, namespaces: [], days: 0, ...bounds });
  return {
    core,
    access,
    follower,
    runs,
    models,
    clock,
    namespaces,
    system,
    token,
    user: async (name, password = "") => {
      await access.createPrincipal(ADMIN, { name, kind: "user", displayName: "", password });
      return here(access.identify((await token(name)).secret));
    },
    group: async (name, ...members) => {
      await access.createPrincipal(ADMIN, { name, kind: "group", displayName: "", password: "" });
      for (const member of members) await access.addMember(ADMIN, { group: name, member });
    },
    bind: async (principal, role, scope) => {
      await access.bindRole(ADMIN, { principal, role, scope });
    },
    close: (scope) => access.setClosed(ADMIN, { scope, closed: true }),
    audit: async () => {
      const everything = { principal: "", action: "", target: "", pageSize: 0, pageToken: "" };
      const { entries } = await access.listAudit(ADMIN, everything);
      return entries.map(({ action, target }) => `${action} ${target}`).reverse();
    },
  };
}
