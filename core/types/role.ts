import type { Permission } from "./permission.ts";

/** What a principal is bound to somewhere, from weakest to strongest; each can do what those before it can. */
export const ROLES = ["viewer", "writer", "maintainer", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** The permission a role adds to those of the weaker ones. */
export const PERMISSION_OF: Readonly<Record<Role, Exclude<Permission, "public">>> = {
  viewer: "read",
  writer: "write",
  maintainer: "maintain",
  admin: "administer",
};

/** 0 for none, 1 for a viewer … 4 for an admin: the same number counts for permissions, "public" being 0. */
export type Rank = 0 | 1 | 2 | 3 | 4;

export function rankOf(role: Role | undefined): Rank {
  return role === undefined ? 0 : ((ROLES.indexOf(role) + 1) as Rank);
}

export function roleOf(rank: Rank): Role | undefined {
  return rank === 0 ? undefined : ROLES[rank - 1];
}
