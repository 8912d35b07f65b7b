import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { joinObject, splitObject } from "#lang/json/object-text.ts";
import type { Run, RunChange } from "#core/types/run.ts";
import type { RunRef } from "#lang/run-ref.ts";
import type { RunStatus } from "#lang/statuses.ts";
import { sizeOf } from "#core/types/size.ts";
import type { RunFeedRow } from "#core/ports/run-changes.ts";
import {
  CANDIDATES_MAX,
  HEAVY_PARTS,
  type GetRuns,
  type HeavyPart,
  type RunStore,
} from "#core/ports/run-store.ts";
import { aliasConflict, aliasTaken, aliasTakenThere } from "#core/runs/alias-refusal.ts";
import type { Db, Row } from "../file/db.ts";
import { changedRun } from "./changed-run.ts";
import type { Namespaces } from "./namespaces.ts";
import { rowBytes } from "./page.ts";
import { provenanceFromText, provenanceToText } from "./provenance.ts";
import { followProvenance } from "./role-links.ts";
import { searchableFromText, searchableToText, searchedProvenance } from "./searchable.ts";
import { tagsFromText, tagsToText } from "./tags.ts";

const COLUMNS = `run.key, run.id, namespace.path, run.name, run.status, run.created_us, run.started_us,
  run.ended_us, run.updated_us, ifnull(run.deleted_us, namespace.trashed_us), run.creator, run.ended_by, run.changed_by,
  iif(run.deleted_us IS NULL, namespace.trashed_by, run.deleted_by), run.aliases, run.tags, run.params, run.notes, run.provenance`;
/** A feed carries only what is searched of the provenance, the namespace by its id, too, and only the run's own mark of the trash. */
const FEED_COLUMNS = COLUMNS.replace("run.provenance", "run.searchable, run.namespace").replace(
  "ifnull(run.deleted_us, namespace.trashed_us)",
  "run.deleted_us",
);
/** The time of the last heartbeat is kept with the writers: the row of the run is not written for it. */
const RUN_COLUMNS = `${COLUMNS}, run.heartbeat_s, (SELECT max(last_us) FROM writer WHERE writer.run = run.key)`;
const FROM = "FROM run JOIN namespace ON namespace.id = run.namespace";
const NOTHING: Readonly<Record<HeavyPart, string>> = {
  params: "'{}'",
  tags: "'[]'",
  notes: "''",
  provenance: "NULL",
};
/** Takes only the head of the row: SQLite knows the length of a text without reading it. */
const HEAVY_BYTES = HEAVY_PARTS.map((part) => `ifnull(octet_length(run.${part}), 0)`).join(" + ");
/** A run without its heavy parts where they are large, and how large they are. */
const LIGHT_COLUMNS = `${RUN_COLUMNS.replace(
  new RegExp(`run\\.(${HEAVY_PARTS.join("|")})`, "g"),
  (column, part: HeavyPart) =>
    `iif(${HEAVY_BYTES} > ${limits.lightRunBytesMax}, ${NOTHING[part]}, ${column})`,
)}, ${HEAVY_BYTES}`;

function columnsWithout(omit: readonly HeavyPart[]): string {
  return omit.reduce((text, part) => text.replace(`run.${part}`, NOTHING[part]), RUN_COLUMNS);
}

type Who = Pick<Run, "creator" | "endedBy" | "changedBy" | "deletedBy">;

export interface StoredRun {
  key: number;
  run: Run;
}

/** The run table. Callers wrap each method in a transaction or savepoint. */
export class Runs {
  readonly #db: Db;
  readonly #namespaces: Namespaces;

  constructor(db: Db, namespaces: Namespaces) {
    this.#db = db;
    this.#namespaces = namespaces;
  }

  create(run: Run, getOrCreate: boolean): { stored: StoredRun; created: boolean } {
    const namespace = this.#namespaces.ensure(run.namespace, run.createdUs);
    const holders = this.#aliasHolders(namespace, run.aliases);
    if (holders.size > 1) throw aliasConflict(run.aliases, [...holders.values()]);
    const [holder] = holders.keys();
    if (holder !== undefined) {
      if (getOrCreate) return { stored: this.getLight(holder), created: false };
      throw aliasTaken(run.aliases, run.namespace);
    }
    const { lastId: key } = this.#db.run(
      `INSERT INTO run (id, namespace, name, status, created_us, started_us, ended_us, updated_us,
         creator, ended_by, aliases, tags, params, notes, provenance, searchable)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      run.id,
      namespace,
      run.name,
      run.status,
      run.createdUs,
      run.startedUs ?? null,
      run.endedUs ?? null,
      run.updatedUs,
      run.creator,
      run.endedBy,
      JSON.stringify(run.aliases),
      tagsToText(run.tags),
      joinObject(run.params),
      run.notes,
      provenanceToText(run.provenance),
      searchableToText(run.provenance),
    );
    this.#insertAliases(namespace, run.aliases, key);
    followProvenance(this.#db, key, { before: undefined, after: run.provenance }, run.createdUs);
    return { stored: { key, run: lightened(run) }, created: true };
  }

  findKey(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }

  getKey(id: string): number {
    const key = this.findKey(id);
    if (key === undefined) throw missingRun(id);
    return key;
  }

  getPlace(id: string): { key: number; namespace: string; isTrashed: boolean } {
    const row = this.#db.find(
      `SELECT run.key, namespace.path, namespace.trashed_us ${FROM} WHERE run.id = ?`,
      id,
    );
    if (row === undefined) throw missingRun(id);
    return { key: Number(row[0]), namespace: String(row[1]), isTrashed: row[2] !== null };
  }

  /** Throws `precondition` where the namespace of the run is in the trash. */
  requireWritable(key: number): void {
    const row = this.#db.find(
      `SELECT namespace.path ${FROM} WHERE run.key = ? AND trashed_us IS NOT NULL`,
      key,
    );
    if (row !== undefined) this.#namespaces.trash.requireOutside("write to", String(row[0]));
  }

  /** The first in a namespace and below it, also in the trash. */
  listWithin(path: string, limit: number): { id: string; namespace: string }[] {
    return this.#db
      .all(
        `SELECT run.id, namespace.path FROM namespace CROSS JOIN run ON run.namespace = namespace.id
         WHERE path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0') LIMIT ?2`,
        path,
        limit,
      )
      .map(([id, namespace]) => ({ id: String(id), namespace: String(namespace) }));
  }

  get(key: number): StoredRun {
    return toRun(this.#db.find(`SELECT ${RUN_COLUMNS} ${FROM} WHERE run.key = ?`, key)!);
  }

  getLight(key: number): StoredRun {
    return toRun(this.#db.find(`SELECT ${LIGHT_COLUMNS} ${FROM} WHERE run.key = ?`, key)!);
  }

  find(ref: RunRef, { omit = [], light, page }: Parameters<RunStore["findRuns"]>[1] = {}): Run[] {
    const columns = light === true ? LIGHT_COLUMNS : columnsWithout(omit);
    if (ref.by === "alias") {
      const rows = this.#db.all(
        `SELECT ${columns} FROM alias JOIN run ON run.key = alias.run
           JOIN namespace ON namespace.id = alias.namespace
         WHERE alias.alias = ?1
           AND (?2 = '' OR namespace.path = ?2 OR substr(namespace.path, 1, length(?2) + 1) = ?2 || '/')
           AND (?3 IS NULL OR namespace.path > ?3)
         ORDER BY namespace.path LIMIT ?4`,
        ref.alias,
        ref.namespace,
        page?.after ?? null,
        page?.limit ?? CANDIDATES_MAX,
      );
      return rows.map((row) => toRun(row).run);
    }
    const row = this.#db.find(`SELECT ${columns} ${FROM} WHERE run.id = ?`, ref.id);
    if (row === undefined) return [];
    const { run } = toRun(row);
    return ref.by === "path" && run.namespace !== ref.namespace ? [] : [run];
  }

  getMany(
    ids: readonly string[],
    { omit = [], searchable = false, bytesMax }: GetRuns,
  ): { runs: Run[]; looked: number } {
    const isPartial = searchable && omit.includes("provenance");
    const columns = isPartial
      ? columnsWithout(omit.filter((part) => part !== "provenance")).replace(
          "run.provenance",
          "run.searchable",
        )
      : columnsWithout(omit);
    const sql = `SELECT ${columns} ${FROM} WHERE run.id = ?`;
    const runs: Run[] = [];
    let left = bytesMax;
    for (const [looked, id] of ids.entries()) {
      const row = this.#db.find(sql, id);
      if (row === undefined) continue;
      // Before it is parsed, which takes several times as much.
      left -= rowBytes(row);
      if (left < 0 && runs.length > 0) return { runs, looked };
      runs.push(toRun(row, isPartial ? searchedProvenance : provenanceFromText).run);
    }
    return { runs, looked: ids.length };
  }

  /** Runs after `key` in order of their keys. */
  feedRowsAfter(key: number, limit: number): RunFeedRow[] {
    const sql = `SELECT ${FEED_COLUMNS} ${FROM} WHERE run.key > ? ORDER BY run.key LIMIT ?`;
    return this.#db.all(sql, key, limit).map(toFeedRow);
  }

  findFeedRow(key: number): RunFeedRow | undefined {
    const row = this.#db.find(`SELECT ${FEED_COLUMNS} ${FROM} WHERE run.key = ?`, key);
    return row && toFeedRow(row);
  }

  /** Returns the whole run, before and after. `by` names who changes it; undefined for the server. */
  update(key: number, change: RunChange, nowUs: number, by: string | undefined): StoredRun & { before: Run } {
    const { run } = this.get(key);
    const next = changedRun(run, change, nowUs, by);
    if (change.addAliases !== undefined) {
      const namespace = this.#namespaces.getId(run.namespace);
      const fresh = change.addAliases.filter((alias) => !run.aliases.includes(alias));
      const holders = this.#aliasHolders(namespace, fresh);
      if (holders.size > 0) throw aliasTaken(fresh, run.namespace);
      this.#insertAliases(namespace, fresh, key);
    }
    this.#db.run(
      `UPDATE run SET name = ?, status = ?, started_us = ?, ended_us = ?, updated_us = ?, ended_by = ?,
         changed_by = ?, aliases = ?, tags = ?, params = ?, notes = ?, provenance = ?, searchable = ?, heartbeat_s = coalesce(?, heartbeat_s) WHERE key = ?`,
      next.name,
      next.status,
      next.startedUs ?? null,
      next.endedUs ?? null,
      next.updatedUs,
      next.endedBy,
      next.changedBy,
      JSON.stringify(next.aliases),
      tagsToText(next.tags),
      joinObject(next.params),
      next.notes,
      provenanceToText(next.provenance),
      searchableToText(next.provenance),
      change.heartbeatSeconds ?? null,
      key,
    );
    if (next.provenance !== run.provenance) {
      followProvenance(this.#db, key, { before: run.provenance, after: next.provenance }, nowUs);
    }
    return { key, run: next, before: run };
  }

  setDeleted(key: number, deletedUs: number | undefined, by: string): StoredRun {
    // A second delete keeps the time and the principal of the first.
    if (deletedUs === undefined) {
      this.#db.run("UPDATE run SET deleted_us = NULL, deleted_by = '' WHERE key = ?", key);
    } else {
      const sql = "UPDATE run SET deleted_us = ?, deleted_by = ? WHERE key = ? AND deleted_us IS NULL";
      this.#db.run(sql, deletedUs, by, key);
    }
    return this.getLight(key);
  }

  /** With its aliases. */
  move(key: number, path: string, nowUs: number): void {
    const { run } = this.getLight(key);
    const namespace = this.#namespaces.ensure(path, nowUs);
    for (const alias of run.aliases) {
      if (this.#aliasHolders(namespace, [alias]).size > 0) throw aliasTakenThere(alias, run.id, path);
    }
    this.#db.run("UPDATE run SET namespace = ? WHERE key = ?", namespace, key);
    this.#db.run("UPDATE alias SET namespace = ? WHERE run = ?", namespace, key);
  }

  /** The row, and by cascade its aliases, writers, digests and series. */
  remove(key: number): void {
    this.#db.run("DELETE FROM run WHERE key = ?", key);
  }

  silentSince(nowUs: number): number[] {
    const rows = this.#db.all(
      `SELECT run.key FROM run WHERE heartbeat_s > 0 AND status = 'running'
         AND coalesce((SELECT max(last_us) FROM writer WHERE writer.run = run.key), updated_us)
           < ? - 3 * 1000000 * heartbeat_s`,
      nowUs,
    );
    return rows.map(([key]) => Number(key));
  }

  #aliasHolders(namespace: number, aliases: readonly string[]): Map<number, string> {
    const holders = new Map<number, string>();
    for (const alias of aliases) {
      const row = this.#db.find(
        "SELECT run.key, run.id FROM alias JOIN run ON run.key = alias.run WHERE alias.namespace = ? AND alias.alias = ?",
        namespace,
        alias,
      );
      if (row !== undefined) holders.set(Number(row[0]), String(row[1]));
    }
    return holders;
  }

  #insertAliases(namespace: number, aliases: readonly string[], key: number): void {
    for (const alias of aliases) {
      this.#db.run("INSERT INTO alias (namespace, alias, run) VALUES (?, ?, ?)", namespace, alias, key);
    }
  }
}

function missingRun(id: string): CairnError {
  return new CairnError("not-found", `cannot find run ${quote(id)}`);
}

/** The run as LIGHT_COLUMNS has it, but measured in memory. */
export function lightened(run: Run): Run {
  const { params, tags, notes, provenance } = run;
  const leftOutBytes = sizeOf([params, tags, notes, provenance]);
  if (leftOutBytes <= limits.lightRunBytesMax) return run;
  return { ...run, params: new Map(), tags: new Map(), notes: "", provenance: undefined, leftOutBytes };
}

function toRun(row: Row, readProvenance = provenanceFromText): StoredRun {
  const { key, params, tags, ...rest } = toPlainRow(row);
  const provenance = readProvenance(row[18] as string | null);
  const heartbeatSeconds = Number(row[19]) || undefined;
  const lastHeardUs = optional(row[20]);
  const heard = { lastHeardUs, heartbeatSeconds };
  const run = { ...rest, ...heard, params: splitObject(params), tags: new Map(tags), provenance };
  const heavyBytes = Number(row[21] ?? 0);
  return { key, run: heavyBytes > limits.lightRunBytesMax ? { ...run, leftOutBytes: heavyBytes } : run };
}

function toFeedRow(row: Row): RunFeedRow {
  const { endedBy: _, changedBy: __, deletedBy: ___, ...plain } = toPlainRow(row);
  return { ...plain, searchable: searchableFromText(row[18]), namespaceId: Number(row[19]) };
}

/** Params stay unchanged text. */
function toPlainRow(row: Row): Omit<RunFeedRow, "namespaceId" | "searchable"> & Who {
  const [key, id, namespace, name, status, created, started, ended, updated, deleted] = row;
  const [creator, endedBy, changedBy, deletedBy, aliases, tags, params, notes] = row.slice(10);
  return {
    key: Number(key),
    id: String(id),
    namespace: String(namespace),
    name: String(name),
    status: status as RunStatus,
    notes: String(notes),
    aliases: JSON.parse(String(aliases)) as string[],
    params: String(params),
    tags: tagsFromText(String(tags)),
    createdUs: Number(created),
    startedUs: optional(started),
    endedUs: optional(ended),
    updatedUs: Number(updated),
    deletedUs: optional(deleted),
    creator: String(creator),
    endedBy: String(endedBy),
    changedBy: String(changedBy),
    deletedBy: String(deletedBy),
  };
}

function optional(value: Row[number] | undefined): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}
