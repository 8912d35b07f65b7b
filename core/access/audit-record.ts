import type { AuditRecord } from "../ports/access-store.ts";
import type { Identity } from "./caller.ts";

/** What is written down of something a caller does. Facts hold no secret, and nothing of what is destroyed. */
export function auditRecord(
  { principal }: Pick<Identity, "principal">,
  timeUs: number,
  action: string,
  target: string,
  facts: Readonly<Record<string, string>> = {},
): AuditRecord {
  return { principal: principal.name, action, target, facts, timeUs };
}
