import { hash } from "node:crypto";
import { compareCodePoints } from "#lang/code-points.ts";
import type { AuditRecord } from "../../ports/access-store.ts";

/**
 * The audit is a chain: the hash of an entry is SHA-256 over the hash before it (lower-case hex) and the
 * canonical JSON of the entry, so that a change of one entry changes all after it. How many there
 * are and the last hash are stored apart from the entries, so that cutting off the end is detected, too.
 * docs/formats/audit.md
 */
export const CHAIN_START = "0".repeat(64);

export function chainHash(previous: string, number: number, record: AuditRecord): string {
  return hash("sha256", previous + auditText(number, record), "hex");
}

/**
 * Keys rise by code point, there is no whitespace, numbers are plain integers. Address and token are left out
 * where they are empty: that is the text of entries from before there were any.
 */
function auditText(number: number, record: AuditRecord): string {
  const { action, facts, principal, target, timeUs } = record;
  const [by, what, to] = [principal, action, target].map((text) => JSON.stringify(text));
  const address = record.address ? `"address":${JSON.stringify(record.address)},` : "";
  const token = record.token ? `,"token":${JSON.stringify(record.token)}` : "";
  return `{"action":${what},${address}"facts":${factsText(facts)},"number":${number},"principal":${by},"target":${to},"time_us":${timeUs}${token}}`;
}

/** The same form for the facts alone, in which they are stored. */
export function factsText(facts: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(facts).sort(([a], [b]) => compareCodePoints(a, b));
  return `{${pairs.map((pair) => pair.map((text) => JSON.stringify(text)).join(":")).join(",")}}`;
}
