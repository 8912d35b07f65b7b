import { create } from "@bufbuild/protobuf";
import { ROLES, type Role } from "#core/types/role.ts";
import type { Scope } from "#core/types/scope.ts";
import type {
  AskedScope,
  CreatedToken,
  Explanation,
  NewPrincipal,
  NewToken,
  PrincipalChange,
  PrincipalView,
  ScopeAccess,
  TokenView,
  WhoAmI,
} from "#core/access/views.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { sizeOf } from "#core/types/size.ts";
import type { SignedAuditHead } from "#core/access/audit/audit-head.ts";
import type { AuditEntry, AuditVerdict, Binding } from "#core/ports/access-store.ts";
import {
  AuditEntrySchema,
  AuditHeadSchema,
  BindingSchema,
  CreateTokenResponseSchema,
  ExplainAccessResponseSchema,
  PrincipalKind,
  PrincipalSchema,
  ScopeAccessSchema,
  ScopeSchema,
  TokenKind,
  TokenSchema,
  VerifyAuditResponseSchema,
  WhoAmIResponseSchema,
  type AuditEntry as AuditEntryMessage,
  type AuditHead as AuditHeadMessage,
  type Binding as BindingMessage,
  type CreatePrincipalRequest,
  type CreateTokenRequest,
  type CreateTokenResponse,
  type ExplainAccessResponse,
  type Principal as PrincipalMessage,
  type Role as RoleMessage,
  type Scope as ScopeMessage,
  type ScopeAccess as ScopeAccessMessage,
  type Token as TokenMessage,
  type UpdatePrincipalRequest,
  type VerifyAuditResponse,
  type WhoAmIResponse,
} from "#proto/cairn/v1/access_pb.ts";

const KINDS: Readonly<Record<PrincipalView["kind"], PrincipalKind>> = {
  user: PrincipalKind.USER,
  service: PrincipalKind.SERVICE,
  group: PrincipalKind.GROUP,
  everyone: PrincipalKind.EVERYONE,
  owner: PrincipalKind.OWNER,
  anonymous: PrincipalKind.ANONYMOUS,
};

const TOKEN_KINDS: Readonly<Record<TokenView["kind"], TokenKind>> = {
  token: TokenKind.TOKEN,
  login: TokenKind.LOGIN,
  session: TokenKind.SESSION,
  first: TokenKind.FIRST,
};

/** undefined for the role that is not given. */
function toRole(message: RoleMessage): Role | undefined {
  if (message === 0) return undefined;
  const role = ROLES[message - 1];
  if (role === undefined) {
    throw new CairnError("invalid", `cannot use role "${message}": the roles are ${ROLES.join(", ")}`);
  }
  return role;
}

export function toGivenRole(message: RoleMessage): Role {
  const role = toRole(message);
  if (role === undefined) {
    throw new CairnError("invalid", "cannot bind a role: role is required", {
      hint: "give ROLE_VIEWER, ROLE_WRITER, ROLE_MAINTAINER or ROLE_ADMIN; UnbindRole takes a role away",
    });
  }
  return role;
}

/** The root must be named explicitly: a missing scope does not mean everything. */
export function toScope(message: ScopeMessage | undefined): AskedScope {
  if (message === undefined) {
    throw new CairnError("invalid", "cannot use scope: it is required", {
      hint: 'give {"scope": {"namespace": "team/project"}}, or {"scope": {"namespace": ""}} for everything',
    });
  }
  const { namespace, runId, artifact } = message;
  return { namespace, runId, artifact };
}

export function toNewPrincipal(request: CreatePrincipalRequest): NewPrincipal {
  const { name, displayName, password, yourPassword } = request;
  return { name, kind: toKind(request.kind), displayName, password, yourPassword };
}

function toKind(message: PrincipalKind): NewPrincipal["kind"] {
  if (message === PrincipalKind.USER) return "user";
  if (message === PrincipalKind.SERVICE) return "service";
  if (message === PrincipalKind.GROUP) return "group";
  throw new CairnError("invalid", `cannot create a principal of kind "${message}"`, {
    hint: "give PRINCIPAL_KIND_USER, PRINCIPAL_KIND_SERVICE or PRINCIPAL_KIND_GROUP",
  });
}

export function toPrincipalChange(request: UpdatePrincipalRequest): PrincipalChange {
  const { name, displayName, password, disabled, yourPassword } = request;
  return {
    name,
    yourPassword,
    ...(displayName !== undefined && { displayName }),
    ...(password !== undefined && { password }),
    ...(disabled !== undefined && { disabled }),
  };
}

export function toNewToken(request: CreateTokenRequest): NewToken {
  const { principal, name, namespaces, days, password } = request;
  return { principal, name, role: toRole(request.role), namespaces, days, password };
}

export function fromPrincipal(principal: PrincipalView): PrincipalMessage {
  return create(PrincipalSchema, {
    name: principal.name,
    kind: KINDS[principal.kind],
    displayName: principal.displayName,
    disabled: principal.disabled,
    createdUs: BigInt(principal.createdUs),
    members: [...principal.members],
    groups: [...principal.groups],
    hasPassword: principal.hasPassword,
  });
}

export function fromBinding(binding: Binding): BindingMessage {
  return create(BindingSchema, {
    principal: binding.principal,
    role: fromRole(binding.role),
    scope: fromScope(binding.scope),
    createdUs: BigInt(binding.createdUs),
    createdBy: binding.createdBy,
  });
}

export function fromWhoAmI({ principal, token, bindings }: WhoAmI): WhoAmIResponse {
  let left: number = limits.pageBytesMax;
  const shown = bindings.filter((binding) => (left -= sizeOf(binding)) >= 0);
  return create(WhoAmIResponseSchema, {
    principal: fromPrincipal(principal),
    ...(token !== undefined && { token: fromToken(token) }),
    bindings: shown.map(fromBinding),
    truncated: shown.length < bindings.length,
  });
}

export function fromExplanation({ role, reasons, summary }: Explanation): ExplainAccessResponse {
  return create(ExplainAccessResponseSchema, {
    role: fromRole(role),
    reasons: reasons.map(({ binding, through, counts, cutBy }) => ({
      binding: fromBinding(binding),
      through: through ?? "",
      counts,
      ...(cutBy !== undefined && { cutBy: fromScope(cutBy) }),
    })),
    summary,
  });
}

export function fromScopeAccess({ scope, closed, bindings }: ScopeAccess): ScopeAccessMessage {
  return create(ScopeAccessSchema, {
    scope: fromScope(scope),
    closed,
    bindings: bindings.map(fromBinding),
  });
}

export function fromToken(token: TokenView): TokenMessage {
  return create(TokenSchema, {
    id: token.id,
    principal: token.principal,
    name: token.name,
    role: fromRole(token.role),
    namespaces: [...token.namespaces],
    createdUs: BigInt(token.createdUs),
    expiresUs: BigInt(token.expiresUs ?? 0),
    lastUsedUs: BigInt(token.lastUsedUs ?? 0),
    kind: TOKEN_KINDS[token.kind],
    parent: token.parent ?? "",
  });
}

export function fromCreatedToken({ secret, token }: CreatedToken): CreateTokenResponse {
  return create(CreateTokenResponseSchema, { secret, token: fromToken(token) });
}

export function fromAuditEntry(entry: AuditEntry): AuditEntryMessage {
  return create(AuditEntrySchema, {
    number: BigInt(entry.number),
    timeUs: BigInt(entry.timeUs),
    principal: entry.principal,
    action: entry.action,
    target: entry.target,
    facts: { ...entry.facts },
    hash: entry.hash,
    token: entry.token,
    address: entry.address,
  });
}

export function fromAuditHead(head: SignedAuditHead): AuditHeadMessage {
  return create(AuditHeadSchema, {
    count: BigInt(head.count),
    hash: head.hash,
    timeUs: BigInt(head.timeUs),
    server: head.server,
    publicKey: head.publicKey,
    signature: head.signature,
  });
}

export function fromAuditVerdict({ entries, problems }: AuditVerdict): VerifyAuditResponse {
  return create(VerifyAuditResponseSchema, {
    ok: problems.length === 0,
    entries: BigInt(entries),
    problems,
  });
}

function fromRole(role: Role | undefined): RoleMessage {
  return role === undefined ? 0 : ((ROLES.indexOf(role) + 1) as RoleMessage);
}

function fromScope({ namespace, runId, artifact }: Scope): ScopeMessage {
  return create(ScopeSchema, { namespace, runId: runId ?? "", artifact: artifact ?? "" });
}
