import { chainHash, CHAIN_START, factsText } from "#core/access/audit/audit-chain.ts";
import type { AuditEntry, AuditRecord, AuditVerdict, ListAudit } from "#core/ports/access-store.ts";
import type { Db, Row, Value } from "../file/db.ts";

const COLUMNS = "number, time_us, principal, action, target, facts, hash, token, address";
const PROBLEMS_MAX = 100;

/** Adds a record to the end of the chain. Call inside the transaction of the change it records. */
export function appendAudit(db: Db, record: AuditRecord): void {
  const [count, previous] = db.find("SELECT count, hash FROM audit_head")!;
  const number = Number(count) + 1;
  const hash = chainHash(String(previous), number, record);
  db.run(
    `INSERT INTO audit (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    number,
    record.timeUs,
    record.principal,
    record.action,
    record.target,
    factsText(record.facts),
    hash,
    record.token ?? "",
    record.address ?? "",
  );
  db.run("UPDATE audit_head SET count = ?, hash = ?", number, hash);
}

export function listAudit(db: Db, { before, after, limit, ...wanted }: ListAudit): AuditEntry[] {
  const where = ["number < ?", "number > ?"];
  const values: Value[] = [before ?? Number.MAX_SAFE_INTEGER, after ?? 0];
  for (const column of ["principal", "action", "target"] as const) {
    const value = wanted[column];
    if (value === undefined) continue;
    where.push(`${column} = ?`);
    values.push(value);
  }
  const order = after === undefined ? "DESC" : "ASC";
  const sql = `SELECT ${COLUMNS} FROM audit WHERE ${where.join(" AND ")} ORDER BY number ${order} LIMIT ?`;
  return db.all(sql, ...values, limit).map(toEntry);
}

export function auditHead(db: Db): { count: number; hash: string } {
  const [count, hash] = db.find("SELECT count, hash FROM audit_head") ?? [0, CHAIN_START];
  return { count: Number(count), hash: String(hash) };
}

/** Call where nothing is written meanwhile: inside a read transaction. */
export function verifyAudit(db: Db): AuditVerdict {
  const problems: string[] = [];
  let entries = 0;
  let number = 0;
  let hash = CHAIN_START;
  // As texts: an attacker may insert numbers that a double cannot hold exactly.
  const rows = db.each(
    `SELECT CAST(number AS TEXT), CAST(time_us AS TEXT), principal, action, target, facts, hash, token, address
     FROM audit ORDER BY number`,
  );
  for (const row of rows) {
    entries++;
    const entry = toEntry(row);
    if (entry.number > number + 1) {
      problems.push(`${entriesText(number + 1, entry.number - 1)} removed`);
    } else if (!followsFrom(hash, entry, String(row[5]))) {
      problems.push(
        number === 0
          ? `entry ${entry.number} was altered`
          : `entry ${entry.number} was altered, or entry ${number} before it was replaced`,
      );
    }
    ({ number, hash } = entry);
    if (problems.length >= PROBLEMS_MAX) return { entries, problems };
  }
  const head = db.find("SELECT CAST(count AS TEXT), hash FROM audit_head");
  const count = Number(head?.[0]);
  if (head === undefined) problems.push("the head that names the last entry was removed");
  else if (count > number) problems.push(`${entriesText(number + 1, count)} removed`);
  else if (count < number) problems.push(`${entriesText(count + 1, number)} added from outside`);
  else if (head[1] !== hash) problems.push(`entry ${number} is not the one that was written last`);
  return { entries, problems };
}

function followsFrom(previous: string, entry: AuditEntry, facts: string): boolean {
  return entry.hash === chainHash(previous, entry.number, entry) && facts === factsText(entry.facts);
}

function entriesText(first: number, last: number): string {
  return first === last ? `entry ${first} was` : `entries ${first} to ${last} were`;
}

function toEntry(row: Row): AuditEntry {
  const [number, timeUs, principal, action, target, facts, hash, token, address] = row;
  return {
    number: Number(number),
    timeUs: Number(timeUs),
    principal: String(principal),
    action: String(action),
    target: String(target),
    facts: parseFacts(String(facts)),
    hash: String(hash),
    token: String(token),
    address: String(address),
  };
}

/** Anything but an object of texts was not written by us: it is read as empty, and its hash is wrong. */
function parseFacts(text: string): Record<string, string> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null) return {};
    const pairs = Object.entries(parsed).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(pairs);
  } catch {
    return {};
  }
}
