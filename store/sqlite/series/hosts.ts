import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { HostName } from "#core/types/host.ts";
import type { ListPart, PartBound } from "#core/ports/list-part.ts";
import type { Host, ListHosts, SeriesOwner } from "#core/ports/point-store.ts";
import type { Db, Row } from "../file/db.ts";
import type { Namespaces } from "../runs/namespaces.ts";
import { takePage } from "../runs/page.ts";

/**
 * Machines with series of their own. Among owners of series a host has the negative of its id as its key, so that what
 * joins the table of runs finds no host.
 */
export class Hosts {
  readonly #db: Db;

  constructor(db: Db) {
    this.#db = db;
  }

  findKey({ namespace, name }: HostName): number | undefined {
    const row = this.#db.find(
      `SELECT host.id FROM namespace JOIN host ON host.namespace = namespace.id
       WHERE namespace.path = ? AND host.name = ?`,
      namespace,
      name,
    );
    return row === undefined ? undefined : -Number(row[0]);
  }

  /** Throws `exhausted` when the namespace may not have one more. */
  requireRoom({ namespace, name }: HostName): void {
    const row = this.#db.find(
      "SELECT count FROM host_count WHERE namespace = (SELECT id FROM namespace WHERE path = ?)",
      namespace,
    );
    const known = Number(row?.[0] ?? 0);
    if (known < limits.hostsPerNamespaceMax) return;
    throw new CairnError(
      "exhausted",
      `cannot add host ${quote(name)} to namespace ${quote(namespace)}: it has ${known}, and the limit is ${limits.hostsPerNamespaceMax}`,
      { reason: "LIMIT_EXCEEDED", hint: "write to hosts of several namespaces" },
    );
  }

  /** Creates the namespace, too, where it is missing. */
  create({ namespace, name }: HostName, namespaces: Namespaces, nowUs: number): number {
    const { lastId } = this.#db.run(
      "INSERT INTO host (namespace, name, written_us) VALUES (?, ?, ?)",
      namespaces.ensure(namespace, nowUs),
      name,
      nowUs,
    );
    return -lastId;
  }

  touch(key: number, nowUs: number): void {
    this.#db.run("UPDATE host SET written_us = max(written_us, ?) WHERE id = ?", nowUs, -key);
  }

  /** For the end of a deletion. What is damaged of a host goes with it, as with a run that is purged. */
  removeIfEmpty(key: number): void {
    const { changes } = this.#db.run("DELETE FROM host WHERE id = ? AND series_count = 0", -key);
    if (changes > 0) this.#db.run("DELETE FROM damaged_log WHERE run = ?", key);
  }

  list({ under, after, trashed = false, ...bound }: PartBound & ListHosts): ListPart<Host> {
    const { rows, more } = takePage(this.eachFrom(under, after, { isAfter: true, trashed }), bound);
    return { rows: rows.map(toHost), more };
  }

  /** Id, namespace, name, number of series and last write of hosts in a namespace and below it, in the order of lists. */
  *eachFrom(
    under: string,
    from: HostName | undefined,
    { isAfter, trashed = false }: { isAfter: boolean; trashed?: boolean },
  ): Generator<Row> {
    const within = { under, trashed };
    // Two questions: of one with "or" SQLite would pass over all hosts before the first, again for each page.
    if (from !== undefined) {
      yield* this.#each(
        `path = ?3 AND host.name ${isAfter ? ">" : ">="} ?4`,
        within,
        from.namespace,
        from.name,
      );
    }
    yield* this.#each("path > ?3", within, from?.namespace ?? "");
  }

  #each(
    where: string,
    { under, trashed }: { under: string; trashed: boolean },
    ...from: string[]
  ): Generator<Row> {
    return this.#db.each(
      `SELECT host.id, namespace.path, host.name, host.series_count, host.written_us
       FROM namespace CROSS JOIN host ON host.namespace = namespace.id
       WHERE (?1 = '' OR path = ?1 OR (path >= ?1 || '/' AND path < ?1 || '0'))
         AND (trashed_us IS NOT NULL) = ?2 AND ${where}
       ORDER BY path, host.name`,
      under,
      Number(trashed),
      ...from,
    );
  }
}

function toHost([, namespace, name, seriesCount, writtenUs]: Row): Host {
  return {
    namespace: String(namespace),
    name: String(name),
    seriesCount: Number(seriesCount),
    writtenUs: Number(writtenUs),
  };
}

// Ids of runs are hexadecimal, so hosts come after all of them.
const HOST_MARK = "host:";

/** An owner as one text, in the order of lists. */
export function toOwnerId(owner: SeriesOwner): string {
  return owner.host === undefined ? owner.runId : `${HOST_MARK}${owner.host.namespace}\n${owner.host.name}`;
}

export function ownerOf(id: string): SeriesOwner {
  if (!id.startsWith(HOST_MARK)) return { runId: id };
  const [namespace = "", name = ""] = id.slice(HOST_MARK.length).split("\n");
  return { host: { namespace, name } };
}
