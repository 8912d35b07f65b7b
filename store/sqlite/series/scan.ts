import { CairnError } from "#lang/errors.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import { PatternDeadline } from "#lang/query/pattern-deadline.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { isUnder } from "#lang/namespace-path.ts";
import { maskReadsNamespace, maskReadsRun } from "#core/types/scope.ts";
import type { KeyPattern, SeriesOwner, SeriesScope, SeriesSelection } from "#core/ports/point-store.ts";
import { compileMatchers, type SeriesTest } from "#core/types/matchers.ts";
import type { Db } from "../file/db.ts";
import { Hosts, ownerOf, toOwnerId } from "./hosts.ts";
import { labelsFromText } from "./labels.ts";

/** Where a series lies in the order of lists. Keys are never empty, so "" is before the first series of a run or a host. */
export interface Place {
  /** As toOwnerId writes it. */
  ownerId: string;
  key: string;
  /** As labelsText writes them. */
  labels: string;
}

export interface ScannedSeries extends Place {
  id: number;
  /** Whether it lies after the place that was asked for. */
  isAfter: boolean;
}

interface Owner {
  key: number;
  id: string;
}

type ScopeUnder = Extract<SeriesScope, { under: string }>;

/** Goes through the series that matchers select, in the order of their owners' ids, keys and labels. */
export class SeriesScan {
  readonly #db: Db;
  readonly #scope: SeriesScope;
  readonly #test: SeriesTest;
  readonly #pattern: ((key: string) => boolean) | undefined;
  #left: number;
  #stoppedAt: Place | undefined;

  /** `deadline` is shared by all scans of one request. */
  constructor(
    db: Db,
    selection: SeriesSelection & { pattern?: KeyPattern | undefined },
    deadline = new PatternDeadline("select series"),
  ) {
    this.#db = db;
    this.#scope = selection.scope;
    this.#left = selection.lookMax;
    this.#test = compileMatchers(selection.matchers, deadline);
    this.#pattern = selection.pattern && deadline.test(compilePattern(selection.pattern.regex, "regex"));
  }

  /** Where to continue, when there is more than it may read. */
  get stoppedAt(): Place | undefined {
    return this.#stoppedAt;
  }

  /** How much it may still read. */
  get left(): number {
    return this.#left;
  }

  /** Those after a place; with `before` also those before it, marked. */
  *each(after: Place | undefined, { before = false } = {}): Generator<ScannedSeries> {
    for (const owner of this.#owners(after?.ownerId ?? "")) {
      const start = { ownerId: owner.id, key: "", labels: "" };
      if (this.#spend(start)) return;
      yield* this.#ofOwner(owner, after?.ownerId === owner.id ? after : start, before);
      if (this.#stoppedAt !== undefined) return;
    }
  }

  *#ofOwner(owner: Owner, after: Place, before: boolean): Generator<ScannedSeries> {
    const { key: onlyKey, matchesKey, matchesLabels } = this.#test;
    let last = after;
    let isKeyMatched = false;
    let lastKey: string | undefined;
    for (const [id, text, labelsText, isAfter] of this.#rows(owner.key, onlyKey, after, before)) {
      if (this.#spend(last)) return;
      const [key, labels] = [String(text), String(labelsText)];
      last = { ownerId: owner.id, key, labels };
      if (key !== lastKey) isKeyMatched = matchesKey(key) && (this.#pattern?.(key) ?? true);
      lastKey = key;
      if (!isKeyMatched || matchesLabels?.(labelsFromText(labels)) === false) continue;
      yield { ...last, id: Number(id), isAfter: isAfter === 1 };
    }
  }

  #rows(run: number, onlyKey: string | undefined, after: Place, before: boolean) {
    const isAfter = "(key, labels) > (?1, ?2)";
    const sql = `SELECT id, key, labels, ${isAfter} FROM series
      WHERE run = ?3${onlyKey === undefined ? "" : " AND key = ?4"}${before ? "" : ` AND ${isAfter}`}
      ORDER BY key, labels`;
    const values = [after.key, after.labels, run];
    return this.#db.each(sql, ...values, ...(onlyKey === undefined ? [] : [onlyKey]));
  }

  /** Counts one more look; true once there were too many. */
  #spend(place: Place): boolean {
    if (this.#left-- > 0) return false;
    this.#stoppedAt = place;
    return true;
  }

  *#owners(fromId: string): Generator<Owner> {
    const scope = this.#scope;
    if ("owners" in scope) {
      yield* this.#namedRuns(scope.owners, fromId);
      yield* this.#namedHosts(scope.owners, fromId);
    } else {
      yield* this.#runsUnder(scope, fromId);
      if (scope.hosts === true && this.#stoppedAt === undefined) yield* this.#hostsUnder(scope, fromId);
    }
  }

  *#namedRuns(owners: readonly SeriesOwner[], fromId: string): Generator<Owner> {
    const ids = owners.flatMap(({ runId }) => runId ?? []);
    if (ids.length === 0) return;
    const sql =
      "SELECT key, id FROM run WHERE id IN (SELECT value FROM json_each(?)) AND id >= ? ORDER BY id";
    for (const [key, id] of this.#db.all(sql, JSON.stringify(ids), fromId)) {
      yield { key: Number(key), id: String(id) };
    }
  }

  *#namedHosts(owners: readonly SeriesOwner[], fromId: string): Generator<Owner> {
    const hosts = new Hosts(this.#db);
    const named = owners.flatMap((owner) =>
      owner.host === undefined ? [] : { ...owner, id: toOwnerId(owner) },
    );
    for (const { host, id } of named.sort((a, b) => compareCodePoints(a.id, b.id))) {
      const key = compareCodePoints(id, fromId) < 0 ? undefined : hosts.findKey(host);
      if (key !== undefined) yield { key, id };
    }
  }

  *#hostsUnder({ under, readable }: ScopeUnder, fromId: string): Generator<Owner> {
    const { host: from } = ownerOf(fromId);
    for (const [id, path, text] of new Hosts(this.#db).eachFrom(under, from, { isAfter: false })) {
      const [namespace, name] = [String(path), String(text)];
      if (readable !== undefined && !maskReadsNamespace(readable, namespace)) continue;
      yield { key: -Number(id), id: toOwnerId({ host: { namespace, name } }) };
    }
  }

  *#runsUnder(scope: ScopeUnder, fromId: string): Generator<Owner> {
    // In the order of the index of ids, whatever namespaces there are.
    const rows = this.#db.each(
      `SELECT run.key, run.id, namespace.path FROM run CROSS JOIN namespace ON namespace.id = run.namespace
       WHERE run.id >= ? AND run.deleted_us IS NULL AND namespace.trashed_us IS NULL ORDER BY run.id`,
      fromId,
    );
    for (const [key, text, path] of rows) {
      const [id, namespace] = [String(text), String(path)];
      // Not counted: where it stops must not show the id of a run that the caller may not see.
      if (scope.readable !== undefined && !maskReadsRun(scope.readable, { id, namespace })) continue;
      if (isUnder(namespace, scope.under)) yield { key: Number(key), id };
      else if (this.#spend({ ownerId: id, key: "", labels: "" })) return;
    }
  }
}

export function toToken({ ownerId, key, labels }: Place): string {
  return Buffer.from(JSON.stringify([ownerId, key, labels])).toString("base64url");
}

export function fromToken(text: string | undefined): Place | undefined {
  if (text === undefined) return undefined;
  try {
    const [ownerId, key, labels] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof ownerId === "string" && typeof key === "string" && typeof labels === "string") {
      return { ownerId, key, labels };
    }
  } catch {
    // Falls through to the one error below.
  }
  throw new CairnError("invalid", `cannot read page token "${text.slice(0, 100)}"`, { reason: "PAGE_TOKEN" });
}
