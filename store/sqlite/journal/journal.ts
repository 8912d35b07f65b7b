import { ByteReader } from "#base/codec/byte-reader.ts";
import { readBlock } from "#base/codec/block.ts";
import {
  CHANGED,
  type EnvelopePoints,
  type JournalChange,
  type JournalPart,
  type JournalPoints,
  type NamespaceMove,
  type ReadJournalPoints,
  type RunMove,
} from "#core/ports/journal.ts";
import type { SeriesPoints } from "#core/types/series.ts";
import { findSeries } from "../series/catalog.ts";
import { Db } from "../file/db.ts";
import { labelsFromText } from "../series/labels.ts";
import { LOG_COLUMNS, readLogRow } from "./log.ts";
import { findSetting } from "../file/settings.ts";
import type { Tail } from "./tail.ts";

export const SECRET_SETTING = "journal-secret";
/** How many changes are kept, and how many more there may be before some are pruned. */
const CHANGES_KEPT = 200_000;
const PRUNED_AT_ONCE = 1_000;
/** After a quarter of the changes kept without one of a kind, followers skip to the last one. */
const SKIP_SHARE = 4;
const NO_RUN = 0;
const RARE = CHANGED.purged | CHANGED.moved | CHANGED.namespaces | CHANGED.access | CHANGED.deleted;
/** Those that are of a rare kind, of whatever other kind they may be, too. */
const RARE_CHANGES = "change INDEXED BY change_rare WHERE what >= 16";

/** Writes changes. One counter gives positions to changes and to rows of the ingest log. */
export class JournalWriter {
  readonly #db: Db;
  readonly #tail: Tail;
  readonly #changesKept: number;
  #first = 0;
  #looked = 0;
  #followed = 0;

  constructor(db: Db, tail: Tail, changesKept = CHANGES_KEPT) {
    this.#db = db;
    this.#tail = tail;
    this.#changesKept = changesKept;
  }

  /** As the file has it. */
  reload(): void {
    const { floor, position } = journalRange(this.#db);
    this.#first = floor;
    this.#tail.lastPos = position;
    this.#looked = position;
    this.#followed = position;
  }

  /**
   * Of the last change that followers are notified of; now and then also of one of no kind, or many of those would prune
   * the position where followers are. For the end of a group, when all that was noted is committed.
   */
  followedPosition(): number {
    const { lastPos } = this.#tail;
    const last = this.#db.find(
      "SELECT pos FROM change WHERE pos > ? AND what <> 0 ORDER BY pos DESC LIMIT 1",
      this.#looked,
    );
    this.#looked = lastPos;
    if (last !== undefined) this.#followed = Number(last[0]);
    if (lastPos - this.#followed > this.#changesKept / SKIP_SHARE) this.#followed = lastPos;
    return this.#followed;
  }

  /**
   * A change of a run gets the next position, or the one of its log row, which exists already. One of no kind (points of
   * a host) only prevents reuse of the position: no follower is notified of it.
   */
  note(run: number, what: number, position: number = ++this.#tail.lastPos): number {
    this.#db.run("INSERT INTO change (pos, run, what) VALUES (?, ?, ?)", position, run, what);
    return position;
  }

  /** From one namespace to where it is now. */
  noteMoved(run: number, from: string): void {
    this.#db.run(
      "INSERT INTO change (pos, run, what, namespace) VALUES (?, ?, ?, ?)",
      ++this.#tail.lastPos,
      run,
      CHANGED.run | CHANGED.moved,
      from,
    );
  }

  /** With all that is in it. */
  noteNamespaceMoved(from: string, to: string): void {
    this.#db.run(
      "INSERT INTO change (pos, run, what, id, namespace) VALUES (?, ?, ?, ?, ?)",
      ++this.#tail.lastPos,
      NO_RUN,
      CHANGED.moved | CHANGED.namespaces,
      to,
      from,
    );
  }

  notePurged(run: number, { id, namespace }: { id: string; namespace: string }): void {
    this.#db.run(
      "INSERT INTO change (pos, run, what, id, namespace) VALUES (?, ?, ?, ?, ?)",
      ++this.#tail.lastPos,
      run,
      CHANGED.purged,
      id,
      namespace,
    );
  }

  /** Of access or namespaces: they concern no single run. */
  noteOutside(what: number): void {
    this.note(NO_RUN, what);
  }

  /** For the end of a transaction. */
  prune(): void {
    const keptFrom = this.#tail.lastPos - this.#changesKept;
    if (keptFrom - this.#first < PRUNED_AT_ONCE) return;
    this.#db.run("DELETE FROM change WHERE pos < ?", keptFrom);
    this.#db.run("DELETE FROM changed_model WHERE pos < ?", keptFrom);
    this.#first = keptFrom;
  }
}

/** A copy is a journal of its own: its later changes are not those of the original. */
export function renewSecretOf(file: string): void {
  const db = Db.open(file);
  try {
    // The copy is deleted when anything fails, so no rollback is needed.
    db.exec("PRAGMA journal_mode = MEMORY");
    renewSecret(db);
  } finally {
    db.close();
  }
}

function renewSecret(db: Db): void {
  db.run("UPDATE main.setting SET value = lower(hex(randomblob(32))) WHERE name = ?", SECRET_SETTING);
}

/**
 * The copy that replaces a store is another journal, also when the same copy has done so before, and begins above
 * the positions of that store, of which `last` is the last.
 */
export function beginAbove(db: Db, last: number): void {
  renewSecret(db);
  db.run("INSERT INTO main.change (pos, run, what) SELECT 1 + max(max(pos), ?), 0, 0 FROM main.change", last);
  db.exec("DELETE FROM main.change WHERE pos < (SELECT max(pos) FROM main.change)");
}

/** The first position that is remembered, and the last. One query each, or SQLite reads the whole table. */
export function journalRange(db: Db): { floor: number; position: number } {
  const [first, last] = db.find("SELECT (SELECT min(pos) FROM change), (SELECT max(pos) FROM change)")!;
  return { floor: Number(first), position: Number(last) };
}

/** Call inside one moment of the store. */
export function changesSince(db: Db, since: number | undefined, kinds: number): JournalPart {
  const { floor, position } = journalRange(db);
  const secret = findSetting(db, SECRET_SETTING)!;
  const changes = since === undefined || since < floor ? [] : mergedChanges(db, since, kinds);
  return { secret, floor, position, changes };
}

/** Whether there is none of these rare kinds after a position; false if that is no longer known. */
export function isUnchangedSince(db: Db, since: number, kinds: number): boolean {
  if (since < journalRange(db).floor) return false;
  return db.find(`${selectChanges(kinds)} LIMIT 1`, since, kinds) === undefined;
}

function selectChanges(kinds: number): string {
  const from = (kinds & ~RARE) === 0 ? RARE_CHANGES : "change WHERE true";
  return `SELECT pos, run, what, id, namespace FROM ${from} AND pos > ? AND what & ? ORDER BY pos`;
}

/** The last change of one run, by kind; 0 for none. */
interface Merged {
  run: number;
  purged: Pick<JournalChange, "runId" | "namespace"> | undefined;
  /** By kind, in the order of KINDS. */
  at: number[];
  envelopes: number;
  moves: RunMove[];
  namespaceMoves: NamespaceMove[];
}

const KINDS = Object.values(CHANGED);

function mergedChanges(db: Db, since: number, kinds: number): JournalChange[] {
  const merged = new Map<number, Merged>();
  for (const [pos, run, bits, id, namespace] of db.each(selectChanges(kinds), since, kinds)) {
    const what = Number(bits) & kinds;
    let one = merged.get(Number(run));
    if (one === undefined) {
      one = emptyMerged(Number(run));
      merged.set(one.run, one);
    }
    KINDS.forEach((kind, i) => {
      if ((what & kind) !== 0) one.at[i] = Number(pos);
    });
    if ((what & CHANGED.points) !== 0) one.envelopes++;
    if ((what & CHANGED.moved) !== 0) {
      const move = { from: String(namespace), position: Number(pos) };
      if (one.run === NO_RUN) one.namespaceMoves.push({ ...move, to: String(id) });
      else one.moves.push(move);
    }
    if ((what & CHANGED.purged) !== 0) one.purged = { runId: String(id), namespace: String(namespace) };
  }
  const changes: JournalChange[] = [];
  for (const one of merged.values()) {
    const run = one.purged ?? findPlace(db, one.run);
    if (run === undefined) continue;
    const byPosition = new Map<number, number>();
    one.at.forEach((at, i) => {
      if (at > 0) byPosition.set(at, (byPosition.get(at) ?? 0) | KINDS[i]!);
    });
    for (const [position, what] of byPosition) {
      if (one.purged !== undefined && (what & CHANGED.purged) === 0) continue;
      const envelopes = (what & CHANGED.points) === 0 ? 0 : one.envelopes;
      const moves = one.moves.length > 0 && { moves: one.moves };
      const { namespaceMoves } = one;
      const ofNamespaces = (what & CHANGED.moved) !== 0 && namespaceMoves.length > 0 && { namespaceMoves };
      changes.push({ position, ...run, what, envelopes, ...moves, ...ofNamespaces });
    }
  }
  return changes.sort((a, b) => a.position - b.position);
}

function emptyMerged(run: number): Merged {
  const at = KINDS.map(() => 0);
  return { run, purged: undefined, at, envelopes: 0, moves: [], namespaceMoves: [] };
}

/** Whether any namespace was moved after a position that is known. */
export function hasNamespaceMovedSince(db: Db, since: number): boolean {
  const sql = `SELECT 1 FROM ${RARE_CHANGES} AND pos > ? AND run = ? AND what & ? LIMIT 1`;
  return db.find(sql, since, NO_RUN, CHANGED.moved) !== undefined;
}

function findPlace(db: Db, run: number): Pick<JournalChange, "runId" | "namespace"> | undefined {
  if (run === NO_RUN) return { runId: "", namespace: "" };
  const row = db.find(
    "SELECT run.id, namespace.path FROM run JOIN namespace ON namespace.id = run.namespace WHERE run.key = ?",
    run,
  );
  return row === undefined ? undefined : { runId: String(row[0]), namespace: String(row[1]) };
}

/** Call inside one moment of the store. */
export function readJournalPoints(db: Db, request: ReadJournalPoints): JournalPoints | undefined {
  const { runId, after, upTo, pointsMax } = request;
  const run = db.find("SELECT key FROM run WHERE id = ?", runId);
  if (run === undefined || after < Number(db.find("SELECT min(pos) FROM change")![0])) return undefined;
  // Rows of the log may still have what was deleted since.
  const deleted = db.find(
    `SELECT 1 FROM ${RARE_CHANGES} AND pos > ? AND run = ? AND what & ?`,
    after,
    Number(run[0]),
    CHANGED.deleted,
  );
  if (deleted !== undefined) return undefined;
  const envelopes: EnvelopePoints[] = [];
  let count = 0;
  for (const [pos] of db.each(
    "SELECT pos FROM change WHERE pos > ? AND pos <= ? AND run = ? AND what & ? ORDER BY pos",
    after,
    upTo,
    Number(run[0]),
    CHANGED.points,
  )) {
    if (count >= pointsMax) return { envelopes, upTo: envelopes.at(-1)!.position };
    const series = readLogged(db, Number(pos));
    if (series === undefined) return undefined;
    for (const { points } of series) count += points.count;
    envelopes.push({ position: Number(pos), series });
  }
  return { envelopes, upTo };
}

/** undefined when the row is folded, or damaged. */
function readLogged(db: Db, pos: number): SeriesPoints[] | undefined {
  const stored = db.find(`SELECT ${LOG_COLUMNS} FROM log WHERE pos = ?`, pos);
  if (stored === undefined) return undefined;
  const row = readLogRow(stored);
  if (row.damage !== undefined) return undefined;
  const reader = new ByteReader(row.body);
  const series: SeriesPoints[] = [];
  for (const id of row.series) {
    const points = readBlock(reader);
    const [entry] = findSeries(db, "id = ?", id);
    if (entry === undefined) return undefined;
    series.push({ key: entry.key, labels: labelsFromText(entry.labels), points });
  }
  return series;
}
