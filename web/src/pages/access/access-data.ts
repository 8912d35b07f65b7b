import { queryOptions } from "@tanstack/react-query";
import { PrincipalKind, Role } from "#proto/cairn/v1/access_pb.ts";
import { listPrincipals } from "#sdk/pages.ts";
import { cairn } from "../../data/server.ts";

export const ROLE_CHOICES = [
  { value: "1", label: "viewer" },
  { value: "2", label: "writer" },
  { value: "3", label: "maintainer" },
  { value: "4", label: "admin" },
] as const;

export type RoleChoice = (typeof ROLE_CHOICES)[number]["value"];

export function roleOf(choice: RoleChoice | "0"): Role {
  return Number(choice) as Role;
}

export function roleWord(role: Role): string {
  return ROLE_CHOICES.find(({ value }) => Number(value) === role)?.label ?? "nothing";
}

export function kindWord(kind: PrincipalKind): string {
  const words: Readonly<Record<number, string>> = {
    [PrincipalKind.USER]: "user",
    [PrincipalKind.SERVICE]: "service",
    [PrincipalKind.GROUP]: "group",
    [PrincipalKind.EVERYONE]: "everyone",
    [PrincipalKind.OWNER]: "owner of this machine",
    [PrincipalKind.ANONYMOUS]: "anonymous",
  };
  return words[kind] ?? "unknown";
}

/** All principals, for maintainers. */
export const principals = queryOptions({
  queryKey: ["access", "principals"],
  queryFn: ({ signal }) => listPrincipals(cairn, { signal }),
});

/** Of the caller itself when `of` is empty. */
export const tokensOf = (of: string) =>
  queryOptions({
    queryKey: ["access", "tokens", of],
    queryFn: async ({ signal }) => (await cairn.access.listTokens({ principal: of }, { signal })).tokens,
  });

export const scopeAccess = (namespace: string) =>
  queryOptions({
    queryKey: ["access", "scope", namespace],
    queryFn: ({ signal }) => cairn.access.getScope({ scope: { namespace } }, { signal }),
  });
