import type { AuditRecord } from "../../ports/access-store.ts";
import type { Caller } from "../caller.ts";

/**
 * The audit record of an action of a caller: the one place that sets who it was, by which token and from where. Facts
 * hold no secret, and no content of destroyed things.
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

/** The record with facts that only the store knows, in the transaction of the change it records. */
export function withFacts(record: AuditRecord, facts: Readonly<Record<string, string>>): AuditRecord {
  return { ...record, facts: { ...record.facts, ...facts } };
}
