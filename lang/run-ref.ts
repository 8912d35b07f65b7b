import { isRunId } from "#base/run-id.ts";
import { CairnError, quote } from "./errors.ts";
import { parseNamespace } from "./namespace-path.ts";

/** How a caller names a run. An alias is looked up in `namespace` and below it. */
export type RunRef =
  | { by: "id"; id: string }
  | { by: "path"; namespace: string; id: string }
  | { by: "alias"; alias: string; namespace: string };

/** "a/b/<id>" names a run in namespace a/b; "<id>" alone one in any namespace. Throws `invalid`. */
export function parseRunPath(text: string): Exclude<RunRef, { by: "alias" }> {
  const at = text.lastIndexOf("/");
  const id = text.slice(at + 1);
  if (!isRunId(id)) {
    throw new CairnError("invalid", `cannot use run path ${quote(text)}: it does not end in a run id`, {
      hint: 'write the namespace, "/" and the id of 32 lower-case hex digits',
    });
  }
  if (at === -1) return { by: "id", id };
  return { by: "path", namespace: parseNamespace(text.slice(0, at)), id };
}
