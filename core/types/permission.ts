/**
 * What a call needs, from nothing to everything. Every route and every RPC method declares exactly
 * one; the order is the order of strength. The proto spells the same list in cairn/v1/permission.proto.
 */
export const PERMISSIONS = ["public", "read", "write", "maintain", "administer"] as const;
export type Permission = (typeof PERMISSIONS)[number];

export function isPermission(value: unknown): value is Permission {
  return (PERMISSIONS as readonly unknown[]).includes(value);
}
