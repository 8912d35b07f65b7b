import { mentionedFields } from "#lang/query/field-text.ts";

/** Fields of a run that never change. */
const FIXED: ReadonlySet<string> = new Set(["id", "namespace", "created", "started"]);

/** Whether a change of a run may move it in the list, or in and out of it. */
export function mayMove(query: string): boolean {
  return mentionedFields(query).some((field) => field.of !== "run" || !FIXED.has(field.name));
}
