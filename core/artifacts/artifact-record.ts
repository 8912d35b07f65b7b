import { auditRecord } from "../access/audit/audit-record.ts";
import type { Caller } from "../access/caller.ts";
import type { AuditRecord } from "../ports/access-store.ts";
import type { ArtifactScope } from "./locate.ts";

/** The name of an artifact in the audit: RUN_ID/NAME, with namespace and step. */
export function artifactRecord(
  caller: Caller,
  timeUs: number,
  action: string,
  { namespace, runId, artifact }: ArtifactScope,
  step: number | undefined,
): AuditRecord {
  const facts = { namespace, ...(step !== undefined && { step: String(step) }) };
  return auditRecord(caller, timeUs, action, `${runId}/${artifact}`, facts);
}

/** Passed with every write of an artifact: the writer is its author, and different content is replaced. */
export function replaceRecord(
  caller: Caller,
  timeUs: number,
  scope: ArtifactScope,
  step: number | undefined,
): AuditRecord {
  return artifactRecord(caller, timeUs, "replace-artifact", scope, step);
}
