import { CairnError, quote } from "#lang/errors.ts";
import type { Namespace } from "../types/namespace.ts";

/** The reason of a write into a namespace that is in the trash. */
export const NAMESPACE_DELETED = "NAMESPACE_DELETED";

/** Throws `exists` where there is a namespace at the path, outside the trash or in it. */
export function requireFree(start: string, found: Namespace | undefined): void {
  if (found === undefined) return;
  if (found.deletedUs === undefined) throw new CairnError("exists", `${start} exists already`);
  throw new CairnError("exists", `${start} is in the trash`, {
    reason: NAMESPACE_DELETED,
    hint: "restore it with `cairn ns restore` or RestoreNamespace, or purge it",
  });
}

export function notInTrash(verb: string, path: string): CairnError {
  return new CairnError("precondition", `cannot ${verb} namespace ${quote(path)}: it is not in the trash`, {
    reason: "NOT_IN_TRASH",
    hint: "delete the namespace first",
  });
}

/** `deleted` is the namespace itself or one above it. */
export function namespaceDeleted(verb: string, path: string, deleted: string): CairnError {
  const what = deleted === path ? "it is" : `${quote(deleted)} is`;
  return new CairnError("precondition", `cannot ${verb} namespace ${quote(path)}: ${what} in the trash`, {
    reason: NAMESPACE_DELETED,
    facts: { namespace: deleted },
    hint: "restore it first, with `cairn ns restore` or RestoreNamespace",
  });
}
