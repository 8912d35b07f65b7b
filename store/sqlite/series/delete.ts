import { withFacts } from "#core/access/audit/audit-record.ts";
import type { AuditRecord } from "#core/ports/access-store.ts";
import type { DeletedSeries, DeleteSeries } from "#core/ports/point-store.ts";
import { appendAudit } from "../access/audit.ts";
import type { Db } from "../file/db.ts";
import type { Tail } from "../journal/tail.ts";
import { NamespaceTrash } from "../runs/namespace-trash.ts";
import type { Catalog, SeriesEntry } from "./catalog.ts";
import { chunkId } from "./chunks.ts";
import { cutSeries } from "./cut.ts";
import { fromToken, SeriesScan, toToken, type ScannedSeries } from "./scan.ts";

interface Parts {
  db: Db;
  catalog: Catalog;
  tail: Tail;
}

/** The result of a deletion: entries that replace those of the catalog once all of it is done. */
export interface Deletion extends DeletedSeries {
  cut: { entry: SeriesEntry; left: SeriesEntry }[];
  gone: SeriesEntry[];
}

/**
 * Runs inside a savepoint, and does not change memory, so that a failure needs no repair: `adopt` updates memory
 * afterwards.
 */
export function deleteSeries(parts: Parts, request: DeleteSeries, audit: AuditRecord): Deletion {
  const { db, catalog } = parts;
  const { host } = request.owner;
  if (request.onlyTrashed === true && host !== undefined) {
    new NamespaceTrash(db).requireInside("purge", host.namespace);
  }
  const deletion: Deletion = { series: 0, points: 0, next: undefined, cut: [], gone: [] };
  let left = request.pointsMax;
  const { found, next } = firstSeries(db, request);
  deletion.next = next && toToken(next);
  for (const [i, place] of found.entries()) {
    const entry = catalog.findById(place.id)!;
    if (i > 0 && left < entry.state.total) {
      deletion.next = toToken(found[i - 1]!);
      break;
    }
    left -= entry.state.total;
    deletion.points += deleteFrom(parts, entry, request, deletion);
  }
  const { series, points } = deletion;
  if (series > 0) appendAudit(db, withFacts(audit, { series: String(series), points: String(points) }));
  return deletion;
}

function firstSeries(
  db: Db,
  { owner, matchers, after, seriesMax }: DeleteSeries,
): { found: ScannedSeries[]; next: ScannedSeries | undefined } {
  const scan = new SeriesScan(db, { scope: { owners: [owner] }, matchers, lookMax: Infinity });
  const found: ScannedSeries[] = [];
  for (const series of scan.each(fromToken(after))) {
    if (found.length === seriesMax) return { found, next: found.at(-1) };
    found.push(series);
  }
  return { found, next: undefined };
}

function deleteFrom(
  { db, catalog, tail }: Parts,
  entry: SeriesEntry,
  { axis, from, to }: DeleteSeries,
  deletion: Deletion,
): number {
  const isWhole = from === undefined && to === undefined;
  const left = { ...entry, state: structuredClone(entry.state) };
  const range = { axis, from: from ?? -Infinity, to: to ?? Infinity };
  const points = isWhole ? entry.state.total : cutSeries(db, left, tail, range);
  if (isWhole || (points > 0 && left.state.total === 0)) {
    db.run("DELETE FROM chunk WHERE id >= ? AND id < ?", chunkId(entry.id, 0), chunkId(entry.id + 1, 0));
    catalog.remove(entry);
    deletion.gone.push(entry);
    deletion.series++;
  } else {
    // Also where no point went: it has been moved out of the log.
    catalog.save(left);
    deletion.cut.push({ entry, left });
    if (points > 0) deletion.series++;
  }
  return points;
}

/** Brings memory in step. */
export function adopt(catalog: Catalog, { cut, gone }: Deletion): void {
  for (const { entry, left } of cut) Object.assign(entry, left);
  for (const entry of gone) catalog.forgetSeries(entry);
}
