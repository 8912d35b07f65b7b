import { CairnError, quote } from "#lang/errors.ts";
import { paramsBytes } from "#core/types/check.ts";
import type { CapturePolicy } from "#core/types/capture.ts";
import type {
  Direction,
  KeyDescription,
  Namespace,
  NamespaceRef,
  Objective,
  Picture,
} from "#core/types/namespace.ts";
import { limits } from "#lang/limits.ts";
import { parseNamespace } from "#lang/namespace-path.ts";
import { CHANGED } from "#core/ports/journal.ts";
import type { ListPart } from "#core/ports/list-part.ts";
import type { NamespaceChange, NamespaceStore, NewNamespace } from "#core/ports/namespace-store.ts";
import { completedKey } from "#core/types/key-description.ts";
import type { Db, Row } from "../file/db.ts";
import type { JournalWriter } from "../journal/journal.ts";
import { requireFree } from "#core/runs/trash-refusal.ts";
import { NamespaceTrash } from "./namespace-trash.ts";
import { takePage } from "./page.ts";
import { merge, tagsFromText, tagsToText } from "./tags.ts";

const COLUMNS =
  "id, path, description, objective_metric, objective_direction, created_us, forbids_console, forbids_code, tags, trashed_us";
// Paths hold no control characters, so this puts "/" below everything: parents, then their subtree.
const TREE_ORDER = "replace(path, '/', char(1))";

/** Namespaces and what their metric keys mean. Call inside a transaction where several steps belong together. */
export class Namespaces {
  readonly #db: Db;
  readonly #journal: JournalWriter | undefined;
  readonly trash: NamespaceTrash;

  /** `journal` for the one that writes. */
  constructor(db: Db, journal?: JournalWriter) {
    this.#db = db;
    this.#journal = journal;
    this.trash = new NamespaceTrash(db);
  }

  create(namespace: NewNamespace): Namespace {
    requireFree(`cannot create namespace ${quote(namespace.path)}: it`, this.find(namespace.path));
    this.ensure(namespace.path, namespace.createdUs);
    return this.update(namespace.path, {
      description: namespace.description,
      objective: namespace.objective ?? null,
      tags: namespace.tags,
    });
  }

  find(ref: NamespaceRef): Namespace | undefined {
    const where = typeof ref === "number" ? "id" : "path";
    const row = this.#db.find(`SELECT ${COLUMNS} FROM namespace WHERE ${where} = ?`, ref);
    return row === undefined ? undefined : toNamespace(row);
  }

  findObjectives(paths: readonly string[]): [path: string, objective: Objective][] {
    return paths.flatMap((path) => {
      const row = this.#db.find(
        `SELECT objective_metric, objective_direction FROM namespace
         WHERE path = ? AND objective_metric IS NOT NULL`,
        path,
      );
      if (row === undefined) return [];
      return [[path, { metric: String(row[0]), direction: String(row[1]) as Direction }]];
    });
  }

  list({
    under,
    after,
    trashed = false,
    ...bound
  }: Parameters<NamespaceStore["listNamespaces"]>[0]): ListPart<Namespace> {
    const inSubtree = "(?1 = '' OR path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0'))";
    const paths = this.#db.all(
      `SELECT path FROM namespace
       WHERE ${inSubtree} AND ${TREE_ORDER} > replace(?2, '/', char(1))
         AND (trashed_us IS NOT NULL) = ?4
       ORDER BY ${TREE_ORDER} LIMIT ?3`,
      under,
      after ?? "",
      bound.limit + 1,
      Number(trashed),
    );
    // One by one: what is sorted is held in memory, so descriptions must not be among it.
    const { rows, more } = takePage(this.#rows(paths), bound);
    return { rows: rows.map(toNamespace), more };
  }

  *#rows(paths: readonly Row[]): Generator<Row> {
    for (const [path] of paths) {
      yield this.#db.find(`SELECT ${COLUMNS} FROM namespace WHERE path = ?`, String(path))!;
    }
  }

  update(path: string, change: NamespaceChange): Namespace {
    const id = this.getId(path);
    this.trash.requireOutside("update", path);
    if (change.description !== undefined) {
      this.#db.run("UPDATE namespace SET description = ? WHERE id = ?", change.description, id);
    }
    if (change.objective !== undefined) {
      this.#db.run(
        "UPDATE namespace SET objective_metric = ?, objective_direction = ? WHERE id = ?",
        change.objective?.metric ?? null,
        change.objective?.direction ?? null,
        id,
      );
    }
    const { forbidsConsole, forbidsCode } = change;
    if (forbidsConsole !== undefined) {
      this.#db.run("UPDATE namespace SET forbids_console = ? WHERE id = ?", Number(forbidsConsole), id);
    }
    if (forbidsCode !== undefined) {
      this.#db.run("UPDATE namespace SET forbids_code = ? WHERE id = ?", Number(forbidsCode), id);
    }
    if (change.tags !== undefined || change.removeTags !== undefined) {
      const tags = merge(this.find(id)!.tags, change.tags, change.removeTags);
      requireAtMost(tags.size, limits.tagsPerRunMax, "tags", path);
      requireAtMost(paramsBytes(tags), limits.namespaceTagsBytesMax, "bytes of tags", path);
      this.#db.run("UPDATE namespace SET tags = ? WHERE id = ?", tagsToText(tags), id);
    }
    this.#noteChange();
    return this.find(id)!;
  }

  capturePolicies(): [string, CapturePolicy][] {
    return this.#db
      .all(
        `SELECT path, forbids_console, forbids_code FROM namespace
         WHERE forbids_console = 1 OR forbids_code = 1 ORDER BY path`,
      )
      .map(([path, console, code]) => [String(path), toPolicy(console, code)]);
  }

  delete(path: string, { onlyTrashed = false } = {}): void {
    const id = this.getId(path);
    if (onlyTrashed) this.trash.requireInside("purge", path);
    const runs = Number(this.#db.find("SELECT count(*) FROM run WHERE namespace = ?", id)![0]);
    const hosts = Number(this.#db.find("SELECT count FROM host_count WHERE namespace = ?", id)?.[0] ?? 0);
    const below = { under: path, after: path, limit: 1, bytesMax: 0 };
    const children = [false, true].flatMap((trashed) => this.list({ ...below, trashed }).rows);
    if (runs > 0 || hosts > 0 || children.length > 0) {
      const holds =
        runs > 0
          ? counted(runs, "run")
          : hosts > 0
            ? counted(hosts, "host")
            : `namespace ${quote(children[0]!.path)}`;
      throw new CairnError("precondition", `cannot delete namespace ${quote(path)}: it holds ${holds}`, {
        reason: "NAMESPACE_NOT_EMPTY",
        hint: "delete and purge its runs first, delete the series of its hosts, then its child namespaces",
      });
    }
    this.#db.run("DELETE FROM namespace WHERE id = ?", id);
    this.#noteChange();
  }

  /** With everything below it. */
  move(from: string, to: string, nowUs: number): Namespace {
    const id = this.getId(from);
    this.trash.requireOutside("move", from);
    requireFree(`cannot move namespace ${quote(from)} to ${quote(to)}: that`, this.find(to));
    const below = this.#db.all(
      "SELECT id, path FROM namespace WHERE path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0')",
      from,
    );
    const moved = below.map(([one, path]) => {
      return [Number(one), parseNamespace(to + String(path).slice(from.length))] as const;
    });
    const slash = to.lastIndexOf("/");
    if (slash > 0) this.ensure(to.slice(0, slash), nowUs);
    for (const [one, path] of moved) this.#db.run("UPDATE namespace SET path = ? WHERE id = ?", path, one);
    this.#journal?.noteNamespaceMoved(from, to);
    return this.find(id)!;
  }

  /** Of all there are, by id. */
  paths(): [id: number, path: string, isTrashed: boolean][] {
    return this.#db
      .all("SELECT id, path, trashed_us FROM namespace")
      .map(([id, path, trashedUs]) => [Number(id), String(path), trashedUs !== null]);
  }

  /** Into the trash or out of it. Returns whether that changed anything. */
  setDeleted(path: string, deletedUs: number | undefined, by: string): boolean {
    if (!this.trash.set(path, deletedUs, by)) return false;
    this.#journal?.noteNamespaceMoved(path, path);
    return true;
  }

  /** The id of the namespace, which is created with its parents where missing. */
  ensure(path: string, nowUs: number): number {
    const known = this.#findId(path);
    if (known !== undefined) {
      this.trash.requireOutside("write to", path);
      return known;
    }
    const slash = path.lastIndexOf("/");
    if (slash > 0) this.ensure(path.slice(0, slash), nowUs);
    this.#noteChange();
    return this.#db.run(
      "INSERT INTO namespace (path, description, created_us) VALUES (?, '', ?)",
      path,
      nowUs,
    ).lastId;
  }

  #noteChange(): void {
    this.#journal?.noteOutside(CHANGED.namespaces);
  }

  getId(path: string): number {
    const id = this.#findId(path);
    if (id === undefined) throw new CairnError("not-found", `cannot find namespace ${quote(path)}`);
    return id;
  }

  /** As NamespaceStore.describeKey; `changed` is whether that changed anything. */
  describeKey(
    given: KeyDescription,
    nowUs: number,
    absentIn: readonly string[] | undefined,
  ): { held: KeyDescription; changed: boolean } {
    const nearest = absentIn && this.#findKey(absentIn, given.key);
    const completed = nearest === undefined ? given : completedKey(nearest, given);
    if (nearest !== undefined && completed === nearest) return { held: nearest, changed: false };
    const held = { ...completed, namespace: given.namespace };
    const row = [
      this.ensure(held.namespace, nowUs),
      held.key,
      held.unit,
      held.direction ?? null,
      held.description,
      held.picture ?? null,
      held.min ?? null,
      held.max ?? null,
    ];
    const same = this.#db.find(
      `SELECT 1 FROM key_description WHERE namespace = ? AND key = ? AND unit = ? AND direction IS ?
         AND description = ? AND picture IS ? AND min IS ? AND max IS ?`,
      ...row,
    );
    if (same !== undefined) return { held, changed: false };
    this.#db.run(
      `INSERT OR REPLACE INTO key_description (namespace, key, unit, direction, description, picture, min, max)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      ...row,
    );
    return { held, changed: true };
  }

  #findKey(paths: readonly string[], key: string): KeyDescription | undefined {
    const row = this.#db.find(
      `${SELECT_KEY} WHERE key = ? AND path IN (SELECT value FROM json_each(?)) ORDER BY length(path) DESC LIMIT 1`,
      key,
      JSON.stringify(paths),
    );
    return row && toKey(row);
  }

  listKeys(
    paths: readonly string[],
    { after, ...bound }: Parameters<NamespaceStore["listKeys"]>[1],
  ): ListPart<KeyDescription> {
    // Ancestors are prefixes, so the longest path is the nearest; of a maximum SQLite gives its own row.
    const nearest = this.#db.all(
      `SELECT key_description.namespace, key, max(length(path))
       FROM key_description JOIN namespace ON namespace.id = key_description.namespace
       WHERE path IN (SELECT value FROM json_each(?1)) AND key > ?2
       GROUP BY key ORDER BY key LIMIT ?3`,
      JSON.stringify(paths),
      after ?? "",
      bound.limit + 1,
    );
    const { rows, more } = takePage(this.#keyRows(nearest), bound);
    return { rows: rows.map(toKey), more };
  }

  *#keyRows(places: readonly Row[]): Generator<Row> {
    for (const [namespace, key] of places) {
      yield this.#db.find(
        `${SELECT_KEY} WHERE key_description.namespace = ? AND key = ?`,
        Number(namespace),
        String(key),
      )!;
    }
  }

  #findId(path: string): number | undefined {
    const row = this.#db.find("SELECT id FROM namespace WHERE path = ?", path);
    return row === undefined ? undefined : Number(row[0]);
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

function requireAtMost(count: number, max: number, noun: string, path: string): void {
  if (count <= max) return;
  throw new CairnError(
    "exhausted",
    `cannot keep ${count} ${noun} in namespace ${quote(path)}: the limit is ${max}`,
    { reason: "LIMIT_EXCEEDED" },
  );
}

function toPolicy(console: Row[number] | undefined, code: Row[number] | undefined): CapturePolicy {
  return { forbidsConsole: Number(console) === 1, forbidsCode: Number(code) === 1 };
}

function toNamespace(row: Row): Namespace {
  const [id, path, description, metric, direction, createdUs, console, code, tags, trashedUs] = row;
  return {
    id: Number(id),
    path: String(path),
    description: String(description),
    objective:
      metric === null || metric === undefined
        ? undefined
        : { metric: String(metric), direction: direction as Direction },
    tags: new Map(tagsFromText(String(tags))),
    capture: toPolicy(console, code),
    createdUs: Number(createdUs),
    deletedUs: trashedUs === null || trashedUs === undefined ? undefined : Number(trashedUs),
  };
}

const SELECT_KEY = `SELECT path, key, unit, direction, key_description.description, picture, min, max
  FROM key_description JOIN namespace ON namespace.id = key_description.namespace`;

function toKey([namespace, key, unit, direction, description, picture, min, max]: Row): KeyDescription {
  return {
    namespace: String(namespace),
    key: String(key),
    unit: String(unit),
    direction: (direction ?? undefined) as Direction | undefined,
    description: String(description),
    picture: (picture ?? undefined) as Picture | undefined,
    ...(min !== null && { min: Number(min) }),
    ...(max !== null && { max: Number(max) }),
  };
}
