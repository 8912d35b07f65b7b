import type { Role } from "#core/types/role.ts";
import type { Scope } from "#core/types/scope.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type {
  AccessChange,
  AccessContent,
  AuditRecord,
  Binding,
  StoredPrincipal,
  StoredToken,
  TokenKind,
} from "#core/ports/access-store.ts";
import { limitsAfterMove } from "#core/access/moved-access.ts";
import { CHANGED } from "#core/ports/journal.ts";
import { appendAudit } from "./audit.ts";
import type { Db, Row } from "../file/db.ts";
import { isUnchangedSince, journalRange, type JournalWriter } from "../journal/journal.ts";

const TOKEN_COLUMNS =
  "id, kind, principal, parent, password_of, name, hash, page_hash, role, namespaces, created_us, expires_us, last_used_us";
const BINDING_COLUMNS = "namespace, run, artifact, principal, role, created_us, created_by";

/** The tables of access. Callers wrap each function in a transaction or savepoint. */
export function loadAccess(db: Db): AccessContent & { position: number } {
  return {
    position: journalRange(db).position,
    principals: db
      .all("SELECT name, kind, display_name, disabled, created_us, password FROM principal")
      .map(toPrincipal),
    members: db
      .all("SELECT group_name, member FROM member")
      .map(([group, member]) => ({ group: String(group), member: String(member) })),
    bindings: db.all(`SELECT ${BINDING_COLUMNS} FROM binding`).map(toBinding),
    closed: db.all("SELECT namespace, run, artifact FROM closed_scope").map(toScope),
    tokens: db.all(`SELECT ${TOKEN_COLUMNS} FROM token`).map(toToken),
  };
}

export function changeAccess(
  db: Db,
  journal: JournalWriter,
  changes: readonly AccessChange[],
  audit: readonly AuditRecord[],
  basedOn?: number,
): number | undefined {
  if (basedOn !== undefined && !isUnchangedSince(db, basedOn, CHANGED.access)) return undefined;
  for (const change of changes) applyChange(db, change);
  for (const record of audit) appendAudit(db, record);
  if (changes.length > 0) journal.noteOutside(CHANGED.access);
  return journalRange(db).position;
}

/**
 * Bindings and closures on the run and its artifacts. For the transaction that destroys the run. Returns whether there
 * were any, as do the others: then access has changed.
 */
export function dropRunAccess(db: Db, runId: string): boolean {
  return drop(db, "run = ? AND run <> ''", runId);
}

/** Of every step of an artifact; for the transaction that deletes the last of them. */
export function dropArtifactAccess(db: Db, runId: string, artifact: string): boolean {
  return drop(db, "run = ? AND run <> '' AND artifact = ?", runId, artifact);
}

/** On the namespace and below: a role may have been bound where there is no namespace yet. */
export function dropNamespaceAccess(db: Db, path: string): boolean {
  return drop(db, "(namespace = ?1 OR (namespace >= ?1 || '/' AND namespace < ?1 || '0'))", path);
}

/** Moves bindings and closures on the run and its artifacts with it; for the transaction that moves it. */
export function moveRunAccess(db: Db, runId: string, namespace: string): boolean {
  const bindings = db.run("UPDATE binding SET namespace = ? WHERE run = ? AND run <> ''", namespace, runId);
  const closures = db.run(
    "UPDATE closed_scope SET namespace = ? WHERE run = ? AND run <> ''",
    namespace,
    runId,
  );
  return bindings.changes + closures.changes > 0;
}

/**
 * What is bound and closed on the namespace and below it, also on runs there, holds at its new path, and tokens that are
 * limited to it or to a place below stay so; for the transaction that moves it.
 */
export function moveNamespaceAccess(db: Db, from: string, to: string): boolean {
  const where = "WHERE namespace = ?1 OR (namespace >= ?1 || '/' AND namespace < ?1 || '0')";
  const set = `SET namespace = ?2 || substr(namespace, length(?1) + 1) ${where}`;
  let changes = db.run(`UPDATE binding ${set}`, from, to).changes;
  changes += db.run(`UPDATE closed_scope ${set}`, from, to).changes;
  for (const [id, text] of db.all("SELECT id, namespaces FROM token WHERE namespaces <> '[]'")) {
    const namespaces = JSON.parse(String(text)) as string[];
    const moved = limitsAfterMove(namespaces, from, to);
    if (moved === namespaces) continue;
    db.run("UPDATE token SET namespaces = ? WHERE id = ?", JSON.stringify(moved), String(id));
    changes++;
  }
  return changes > 0;
}

function drop(db: Db, where: string, ...values: string[]): boolean {
  const bindings = db.run(`DELETE FROM binding WHERE ${where}`, ...values);
  const closures = db.run(`DELETE FROM closed_scope WHERE ${where}`, ...values);
  return bindings.changes + closures.changes > 0;
}

function applyChange(db: Db, change: AccessChange): void {
  switch (change.do) {
    case "put-principal":
      return putPrincipal(db, change.principal);
    case "delete-principal":
      db.run("DELETE FROM binding WHERE principal = ?", change.name);
      // Tokens and memberships are deleted by cascade.
      db.run("DELETE FROM principal WHERE name = ?", change.name);
      return;
    case "add-member":
      db.run("INSERT OR IGNORE INTO member (group_name, member) VALUES (?, ?)", change.group, change.member);
      return;
    case "remove-member":
      db.run("DELETE FROM member WHERE group_name = ? AND member = ?", change.group, change.member);
      return;
    case "put-binding":
      return putBinding(db, change.binding);
    case "delete-binding":
      requireNotElsewhere(db, change.scope);
      db.run(
        "DELETE FROM binding WHERE namespace = ? AND run = ? AND artifact = ? AND principal = ?",
        ...scopeValues(change.scope),
        change.principal,
      );
      return;
    case "set-closed":
      return setClosed(db, change.scope, change.closed);
    case "put-token":
      return putToken(db, change.token);
    case "delete-token":
      db.run("DELETE FROM token WHERE id = ?", change.id);
      return;
    case "use-token":
      db.run(
        "UPDATE token SET last_used_us = max(coalesce(last_used_us, 0), ?) WHERE id = ?",
        change.lastUsedUs,
        change.id,
      );
  }
}

function putPrincipal(db: Db, principal: StoredPrincipal): void {
  // An update in place: replacing the row would delete its tokens.
  db.run(
    `INSERT INTO principal (name, kind, display_name, disabled, created_us, password)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, display_name = excluded.display_name,
       disabled = excluded.disabled, created_us = excluded.created_us, password = excluded.password`,
    principal.name,
    principal.kind,
    principal.displayName,
    principal.disabled ? 1 : 0,
    principal.createdUs,
    principal.password ?? null,
  );
}

function putBinding(db: Db, binding: Binding): void {
  requireRun(db, binding.scope);
  db.run(
    `INSERT OR REPLACE INTO binding (${BINDING_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ...scopeValues(binding.scope),
    binding.principal,
    binding.role,
    binding.createdUs,
    binding.createdBy,
  );
}

function setClosed(db: Db, scope: Scope, closed: boolean): void {
  if (closed) requireRun(db, scope);
  else requireNotElsewhere(db, scope);
  db.run(
    closed
      ? "INSERT OR IGNORE INTO closed_scope (namespace, run, artifact) VALUES (?, ?, ?)"
      : "DELETE FROM closed_scope WHERE namespace = ? AND run = ? AND artifact = ?",
    ...scopeValues(scope),
  );
}

function requireRun(db: Db, scope: Scope): void {
  if (scope.runId === undefined || findHome(db, scope.runId) === scope.namespace) return;
  throw missingRun(scope);
}

/** Removing rows of a purged run is harmless. A moved one has its access rows where it is now. */
function requireNotElsewhere(db: Db, scope: Scope): void {
  if (scope.runId === undefined || (findHome(db, scope.runId) ?? scope.namespace) === scope.namespace) return;
  throw missingRun(scope);
}

function findHome(db: Db, runId: string): string | undefined {
  const row = db.find(
    "SELECT namespace.path FROM run JOIN namespace ON namespace.id = run.namespace WHERE run.id = ?",
    runId,
  );
  return row === undefined ? undefined : String(row[0]);
}

function missingRun({ namespace, runId }: Scope): CairnError {
  return new CairnError("not-found", `cannot find run ${quote(`${namespace}/${runId}`)}`);
}

function putToken(db: Db, token: StoredToken): void {
  db.run(
    `INSERT OR REPLACE INTO token (${TOKEN_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    token.id,
    token.kind,
    token.principal,
    token.parent ?? null,
    token.passwordOf ?? null,
    token.name,
    token.hash,
    token.pageHash ?? null,
    token.role ?? null,
    JSON.stringify(token.namespaces),
    token.createdUs,
    token.expiresUs ?? null,
    token.lastUsedUs ?? null,
  );
}

function scopeValues({ namespace, runId, artifact }: Scope): [string, string, string] {
  return [namespace, runId ?? "", artifact ?? ""];
}

function toScope([namespace, run, artifact]: Row): Scope {
  if (run === "") return { namespace: String(namespace) };
  const scope = { namespace: String(namespace), runId: String(run) };
  return artifact === "" ? scope : { ...scope, artifact: String(artifact) };
}

function toPrincipal([name, kind, displayName, disabled, createdUs, password]: Row): StoredPrincipal {
  return {
    name: String(name),
    kind: kind as StoredPrincipal["kind"],
    displayName: String(displayName),
    disabled: disabled === 1,
    createdUs: Number(createdUs),
    password: (password ?? undefined) as string | undefined,
  };
}

function toBinding([namespace, run, artifact, principal, role, createdUs, createdBy]: Row): Binding {
  return {
    principal: String(principal),
    role: role as Role,
    scope: toScope([namespace!, run!, artifact!]),
    createdUs: Number(createdUs),
    createdBy: String(createdBy),
  };
}

function toToken(row: Row): StoredToken {
  const [id, kind, principal, parent, passwordOf, name, hash, pageHash, role, namespaces, ...times] = row;
  const [createdUs, expiresUs, lastUsedUs] = times;
  return {
    id: String(id),
    kind: kind as TokenKind,
    principal: String(principal),
    parent: (parent ?? undefined) as string | undefined,
    passwordOf: (passwordOf ?? undefined) as string | undefined,
    name: String(name),
    hash: String(hash),
    pageHash: (pageHash ?? undefined) as string | undefined,
    role: (role ?? undefined) as Role | undefined,
    namespaces: JSON.parse(String(namespaces)) as string[],
    createdUs: Number(createdUs),
    expiresUs: timeOf(expiresUs),
    lastUsedUs: timeOf(lastUsedUs),
  };
}

function timeOf(value: Row[number] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
