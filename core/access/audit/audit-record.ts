import type { AuditRecord } from "../../ports/access-store.ts";
import type { Caller } from "../caller.ts";

/**
 * What is written down of something a caller does: the one place that says who it was, by which token and
 * from where. Facts hold no secret, and nothing of what is destroyed.
 */
export function auditRecord(
  { principal, tokenId, address }: Pick<Caller, "principal" | "tokenId" | "address">,
  timeUs: number,
  action: string,
  target: string,
  facts: Readonly<Record<string, string>> = {},
): AuditRecord {
  return {
    principal: principal.name,
    ...(tokenId !== undefined && { token: tokenId }),
    ...(address !== undefined && { address }),
    action,
    target,
    facts,
    timeUs,
  };
}

/** The record with facts that only the store knows, in the transaction of what it tells of. */
export function withFacts(record: AuditRecord, facts: Readonly<Record<string, string>>): AuditRecord {
  return { ...record, facts: { ...record.facts, ...facts } };
}
