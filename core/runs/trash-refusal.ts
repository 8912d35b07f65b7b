import { CairnError, quote } from "#lang/errors.ts";

/** The reason of a write into a namespace that is in the trash. */
export const NAMESPACE_DELETED = "NAMESPACE_DELETED";

/** `deleted` is the namespace itself or one above it. */
export function namespaceDeleted(verb: string, path: string, deleted: string): CairnError {
  const what = deleted === path ? "it is" : `${quote(deleted)} is`;
  return new CairnError("precondition", `cannot ${verb} namespace ${quote(path)}: ${what} in the trash`, {
    reason: NAMESPACE_DELETED,
    facts: { namespace: deleted },
    hint: "restore it first, with `cairn ns restore` or RestoreNamespace",
  });
}
