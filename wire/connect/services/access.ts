import type { ServiceImpl } from "@connectrpc/connect";
import type { AccessService } from "#proto/cairn/v1/access_pb.ts";
import { callerOf, signalOf } from "../context.ts";
import type { ConnectCore } from "../core.ts";
import { gatherPages } from "./gather-pages.ts";
import {
  fromAuditEntry,
  fromAuditHead,
  fromAuditVerdict,
  fromBinding,
  fromCreatedToken,
  fromExplanation,
  fromPrincipal,
  fromScopeAccess,
  fromToken,
  fromWhoAmI,
  toGivenRole,
  toNewPrincipal,
  toNewToken,
  toPrincipalChange,
  toScope,
} from "../map/access.ts";
import { toInteger } from "../map/map.ts";

/** A group has up to a thousand members; they are kept in memory anyway. */
const PRINCIPALS_AT_ONCE = 1_000;
/** An entry may hold the hundred namespaces of a token. */
const ENTRIES_AT_ONCE = 100;

type AccessCore = Pick<ConnectCore, "access" | "auditHeads">;
type AuditMethod = "listAudit" | "getAuditHead" | "verifyAudit";

/** Access: each method maps its request, calls core, and maps the answer. */
export function accessService(core: AccessCore): ServiceImpl<typeof AccessService> {
  const { access } = core;
  return {
    whoAmI: (_, context) => fromWhoAmI(access.whoAmI(callerOf(context))),
    logIn: async ({ name, password }, context) => {
      // Passwords are checked in a queue: a caller that disconnected leaves it.
      const caller = { ...callerOf(context), signal: signalOf(context) };
      const { secret, token } = await access.logIn(caller, { name, password });
      return { secret, token: fromToken(token) };
    },
    logOut: async (_, context) => {
      await access.logOut(callerOf(context));
      return {};
    },
    changePassword: async ({ oldPassword, newPassword }, context) => {
      await access.changePassword(callerOf(context), { oldPassword, newPassword });
      return {};
    },
    explainAccess: async ({ principal, scope }, context) =>
      fromExplanation(await access.explain(callerOf(context), { principal, scope: toScope(scope) })),

    createPrincipal: async (request, context) =>
      fromPrincipal(await access.createPrincipal(callerOf(context), toNewPrincipal(request))),
    listPrincipals: async (request, context) => {
      const { items, nextPageToken } = await gatherPages(request, PRINCIPALS_AT_ONCE, (page) => {
        const given = access.listPrincipals(callerOf(context), page);
        return { items: given.principals, nextPageToken: given.nextPageToken };
      });
      return { principals: items.map(fromPrincipal), nextPageToken };
    },
    updatePrincipal: async (request, context) =>
      fromPrincipal(await access.updatePrincipal(callerOf(context), toPrincipalChange(request))),
    deletePrincipal: async ({ name }, context) => {
      await access.deletePrincipal(callerOf(context), name);
      return {};
    },
    addMember: async ({ group, member }, context) => {
      await access.addMember(callerOf(context), { group, member });
      return {};
    },
    removeMember: async ({ group, member }, context) => {
      await access.removeMember(callerOf(context), { group, member });
      return {};
    },

    bindRole: async ({ principal, role, scope }, context) =>
      fromBinding(
        await access.bindRole(callerOf(context), {
          principal,
          role: toGivenRole(role),
          scope: toScope(scope),
        }),
      ),
    unbindRole: async ({ principal, scope }, context) => {
      await access.unbindRole(callerOf(context), { principal, scope: toScope(scope) });
      return {};
    },
    setClosed: async ({ scope, closed }, context) => {
      await access.setClosed(callerOf(context), { scope: toScope(scope), closed });
      return {};
    },
    getScope: async ({ scope }, context) =>
      fromScopeAccess(await access.getScope(callerOf(context), toScope(scope))),

    createToken: async (request, context) =>
      fromCreatedToken(await access.createToken(callerOf(context), toNewToken(request))),
    listTokens: ({ principal }, context) => ({
      tokens: access.listTokens(callerOf(context), principal).map(fromToken),
    }),
    revokeToken: async ({ id }, context) => {
      await access.revokeToken(callerOf(context), id);
      return {};
    },

    ...auditMethods(core),
  };
}

function auditMethods({
  access,
  auditHeads,
}: AccessCore): Pick<ServiceImpl<typeof AccessService>, AuditMethod> {
  return {
    listAudit: async (request, context) => {
      const { principal, action, target } = request;
      const after = request.after === undefined ? undefined : toInteger(request.after, "number of an entry");
      const { items, nextPageToken } = await gatherPages(request, ENTRIES_AT_ONCE, async (page) => {
        const given = await access.listAudit(callerOf(context), {
          principal,
          action,
          target,
          after,
          ...page,
        });
        return { items: given.entries, nextPageToken: given.nextPageToken };
      });
      return { entries: items.map(fromAuditEntry), nextPageToken };
    },
    getAuditHead: async (_, context) => fromAuditHead(await auditHeads.get(callerOf(context))),
    verifyAudit: async (_, context) => fromAuditVerdict(await access.verifyAudit(callerOf(context))),
  };
}
