import { CHANGED } from "#core/ports/journal.ts";
import type { NamespaceStore } from "#core/ports/namespace-store.ts";
import type { RunStore } from "#core/ports/run-store.ts";
import type { Namespace } from "#core/types/namespace.ts";
import type { Run } from "#core/types/run.ts";
import { moveNamespaceAccess, moveRunAccess } from "../access/access.ts";
import { appendAudit } from "../access/audit.ts";
import type { Db } from "../file/db.ts";
import { runMoved } from "../journal/append.ts";
import { isUnchangedSince, type JournalWriter } from "../journal/journal.ts";
import type { Namespaces } from "./namespaces.ts";
import type { Runs } from "./runs.ts";

/** What gets another place, with the access that is on it. Each method is a whole or nothing; undefined where access may have changed. */
export class Moves {
  readonly #parts: { db: Db; runs: Runs; namespaces: Namespaces; journal: JournalWriter };

  constructor(parts: { db: Db; runs: Runs; namespaces: Namespaces; journal: JournalWriter }) {
    this.#parts = parts;
  }

  run(...[id, move, nowUs, audit]: Parameters<RunStore["moveRun"]>): Run | undefined {
    const { db, runs, journal } = this.#parts;
    const { from, to, accessAt } = move;
    const { key, namespace } = runs.getPlace(id);
    if (namespace !== from) throw runMoved("move", id);
    if (!isUnchangedSince(db, accessAt, CHANGED.access)) return undefined;
    runs.requireWritable(key);
    db.savepoint(() => {
      runs.move(key, to, nowUs);
      journal.noteMoved(key, from);
      if (moveRunAccess(db, id, to)) journal.noteOutside(CHANGED.access);
      appendAudit(db, audit);
    });
    return runs.getLight(key).run;
  }

  namespace(
    ...[from, { to, accessAt }, nowUs, audit]: Parameters<NamespaceStore["moveNamespace"]>
  ): Namespace | undefined {
    const { db, namespaces, journal } = this.#parts;
    if (!isUnchangedSince(db, accessAt, CHANGED.access)) return undefined;
    return db.savepoint(() => {
      const moved = namespaces.move(from, to, nowUs);
      if (moveNamespaceAccess(db, from, to)) journal.noteOutside(CHANGED.access);
      appendAudit(db, audit);
      return moved;
    });
  }

  /** Into the trash or out of it. */
  trashNamespace(...[path, deletedUs, audit]: Parameters<NamespaceStore["trashNamespace"]>): Namespace {
    const { db, namespaces } = this.#parts;
    db.savepoint(() => {
      if (namespaces.setDeleted(path, deletedUs, audit.principal)) appendAudit(db, audit);
    });
    return namespaces.find(path)!;
  }
}
