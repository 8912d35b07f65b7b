import { CairnError, quote } from "#lang/errors.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { limits } from "#lang/limits.ts";
import { PatternDeadline } from "#lang/query/pattern-deadline.ts";
import type { Labels, SeriesInfo } from "#core/types/series.ts";
import type {
  ListedLabels,
  ListedMetricKeys,
  ListLabels,
  ListMetricKeys,
  MetricKey,
  OwnedSeries,
  ReadGroups,
  ReadGroupsResult,
  ReadSeries,
  ReadSeriesResult,
  SelectedSeries,
  SelectSeries,
  SeriesOwner,
  SeriesSelector,
} from "#core/ports/point-store.ts";
import type { Matcher } from "#core/types/matchers.ts";
import { addPoints, summarize } from "#core/series/state.ts";
import { ReadBudget } from "#core/series/read-budget.ts";
import { eachSeries, findSeries, type SeriesEntry } from "./series/catalog.ts";
import { readablePieces } from "./series/chunks.ts";
import type { Db } from "./file/db.ts";
import { Hosts, ownerOf } from "./series/hosts.ts";
import { labelsFromText, labelsToText } from "./series/labels.ts";
import { readGroups, tooManySeries } from "./series/read-groups.ts";
import { fromToken, SeriesScan, toToken, type Place } from "./series/scan.ts";
import { readAll, type CurrentSeries, type Selected } from "./series/read-series.ts";
import { LOG_COLUMNS, lostIn, readLogRow } from "./journal/log.ts";
import type { LogRow, Tail } from "./journal/tail.ts";
import { damagedRows, verifySeries } from "./file/verify.ts";

/**
 * Reads series from chunks and log inside one read transaction, hence one moment of the store. A
 * reader with a connection of its own follows the log itself: rows it has not seen are read
 * before each answer, rows that were folded are dropped.
 */
export class SeriesReader {
  readonly #db: Db;
  readonly #tail: Tail;
  readonly #follows: boolean;

  /** With `follows`, the tail is this reader's own; else the writer, on the same thread, keeps it current. */
  constructor(db: Db, tail: Tail, options: { follows: boolean }) {
    this.#db = db;
    this.#tail = tail;
    this.#follows = options.follows;
  }

  select(request: SelectSeries): SelectedSeries {
    return this.moment(() => {
      const { scope, lookMax } = request;
      const isOne = "owners" in scope && scope.owners.length === 1;
      const scan = new SeriesScan(this.#db, { ...request, lookMax: isOne ? Infinity : lookMax });
      const isCounted = isOne && request.isCounted;
      const { places, total, more } = placesOf(scan, request, isCounted);
      const series: OwnedSeries[] = [];
      let left = request.bytesMax;
      for (const { id, ownerId, bytes } of places) {
        const { entry } = this.#current(findSeries(this.#db, "id = ?", id)[0]!);
        left -= bytes + sampleBytes(entry);
        if (left < 0 && series.length > 0) break;
        series.push({ ...ownerOf(ownerId), ...toInfo(entry) });
      }
      const isCut = more || series.length < places.length;
      const next = isCut ? places[series.length - 1] : scan.stoppedAt;
      return { series, total: isCounted ? total : undefined, next: next && toToken(next) };
    });
  }

  labels(request: ListLabels): ListedLabels {
    return this.moment(() => {
      const scan = new SeriesScan(this.#db, request);
      const counts = new Map<string, number>();
      for (const series of scan.each(undefined)) {
        for (const text of textsOf(series, request.label)) counts.set(text, (counts.get(text) ?? 0) + 1);
      }
      const { after, limit } = request;
      const sorted = [...counts.keys()]
        .filter((text) => after === undefined || compareCodePoints(text, after) > 0)
        .sort(compareCodePoints);
      return {
        texts: sorted.slice(0, limit).map((text) => ({ text, seriesCount: counts.get(text)! })),
        more: sorted.length > limit,
        truncated: scan.stoppedAt !== undefined,
      };
    });
  }

  keys(request: ListMetricKeys): ListedMetricKeys {
    return this.moment(() => {
      const run = this.#runKey(request.runId);
      if (run === undefined) return { keys: [], next: undefined };
      const after = fromToken(request.after) ?? NO_PLACE;
      const sql = "run = ? AND (key, labels) > (?, ?) ORDER BY key, labels LIMIT ?";
      const keys: MetricKey[] = [];
      let looked = 0;
      let last: SeriesEntry | undefined;
      for (const stored of eachSeries(this.#db, sql, run, after.key, after.labels, request.limit)) {
        const { entry } = this.#current(stored);
        if (keys.at(-1)?.key !== entry.key) keys.push(noSeriesOf(entry.key));
        addToKey(keys.at(-1)!, entry);
        last = entry;
        looked++;
      }
      const next = last !== undefined && looked === request.limit ? last : undefined;
      return { keys, next: next && toToken({ ...next, ownerId: request.runId }) };
    });
  }

  read(request: ReadSeries): ReadSeriesResult {
    return this.moment(() => {
      const budget = new ReadBudget(request);
      const selected = new Map<number, Selected>();
      const looks = { left: limits.readLookMax, deadline: new PatternDeadline("read series") };
      for (const selector of request.selectors) {
        for (const { entry, logged } of this.#select(selector, looks)) {
          if (selected.has(entry.id)) continue;
          budget.spend({ series: 1, textBytes: Buffer.byteLength(entry.key + entry.labels) });
          budget.hold(sampleBytes(entry));
          selected.set(entry.id, { owner: ownerIn(selector), entry, logged });
        }
      }
      return readAll(this.#db, [...selected.values()], request, budget);
    });
  }

  groups(request: ReadGroups): ReadGroupsResult {
    return this.moment(() => {
      // A run may be in several groups.
      const known = new Map<string, CurrentSeries[]>();
      let left = request.seriesMax;
      const seriesOf = (runId: string) => {
        let series = known.get(runId);
        if (series === undefined) {
          series = [];
          for (const one of this.#select({ runId, key: request.key, labels: request.labels }, NO_LOOKS)) {
            if (left-- === 0) throw tooManySeries(request);
            series.push(one);
          }
          known.set(runId, series);
        }
        return series;
      };
      const groups = request.groups.map((ids, i) =>
        ids
          .map((id, j) => ({ series: seriesOf(id), startUs: request.startsUs?.[i]?.[j] ?? 0 }))
          .filter(({ series }) => series.length > 0),
      );
      return readGroups(this.#db, groups, request);
    });
  }

  /** Reads every point of a run or a host; call inside `moment`. Returns how many came back with their checksums right. */
  verify(run: number, report: (problem: string) => void): number {
    let points = 0;
    // By id first: there may be more series than there is memory for.
    for (const [id] of this.#db.each("SELECT id FROM series WHERE run = ? ORDER BY id", run)) {
      const [stored] = findSeries(this.#db, "id = ?", Number(id));
      try {
        const damaged = this.#damageOf(stored!);
        points += verifySeries(this.#db, this.#current({ ...stored!, damaged }), report);
      } catch (thrown) {
        // The database itself is damaged where the series lies.
        const { code, message } = CairnError.from(thrown);
        if (code !== "corrupt") throw thrown;
        report(`series ${quote(stored!.key)}: ${message}`);
      }
    }
    return points;
  }

  /** Log rows whose points are lost, of all runs; call inside `moment`. */
  damagedRows(): LogRow[] {
    return damagedRows(this.#db, this.#tail);
  }

  /** Points that are only in the log. Call inside `moment`. */
  loggedPoints(): number {
    let points = 0;
    for (const series of this.#tail.seriesThrough(this.#tail.lastPos)) {
      const [entry] = findSeries(this.#db, "id = ?", series);
      if (entry === undefined) continue;
      for (const piece of this.#tail.pieces(series, entry.foldedPos)) points += piece.points.count;
    }
    return points;
  }

  /** `work` on one consistent state of the store, with the tail in step. */
  moment<T>(work: () => T): T {
    return this.snapshot(() => {
      if (this.#follows) this.#follow();
      return work();
    });
  }

  /** The same for what needs no points: the log, which grows all the time, is not read for it. */
  snapshot<T>(work: () => T): T {
    return this.#follows ? this.#db.snapshot(work) : work();
  }

  #follow(): void {
    const [first] = this.#db.find("SELECT min(pos) FROM log")!;
    this.#tail.dropThrough(first === null ? this.#tail.lastPos : Number(first) - 1);
    const rows = this.#db.each(
      `SELECT ${LOG_COLUMNS} FROM log WHERE pos > ? ORDER BY pos`,
      this.#tail.lastPos,
    );
    for (const row of rows) this.#tail.push(readLogRow(row));
  }

  /** The stored series with what the log adds to it. */
  #current(entry: SeriesEntry): CurrentSeries {
    const logged = this.#tail.pieces(entry.id, entry.foldedPos);
    let rewound = false;
    for (const { points, writer } of logged) {
      // Once rewound, the summary is recomputed anyway; the rest must still be counted.
      rewound = addPoints(entry.state, points, writer) || rewound;
    }
    if (rewound) summarize(entry.state, readablePieces(this.#db, entry, this.#tail));
    return { entry, logged };
  }

  /** One after the other: a key may have more label sets than there is memory for. */
  *#select(selector: SeriesSelector, looks: Looks): Generator<CurrentSeries> {
    for (const entry of this.#entries(selector, looks)) {
      this.#requireWhole(entry);
      yield this.#current(entry);
    }
  }

  #entries(selector: SeriesSelector, looks: Looks): Iterable<SeriesEntry> {
    const { key, labels, matchers } = selector;
    if (key === undefined || matchers !== undefined) {
      const ofKey = key === undefined ? [] : [{ label: "", op: "=" as const, value: key }];
      return this.#matched(ownerIn(selector), [...ofKey, ...(matchers ?? [])], labels, looks);
    }
    const run = this.#ownerKey(selector);
    if (run === undefined) return [];
    return labels === undefined
      ? eachSeries(this.#db, "run = ? AND key = ? ORDER BY labels", run, key)
      : findSeries(this.#db, "run = ? AND key = ? AND labels = ?", run, key, labelsToText(labels));
  }

  *#matched(
    owner: SeriesOwner,
    matchers: readonly Matcher[],
    labels: Labels | undefined,
    looks: Looks,
  ): Generator<SeriesEntry> {
    const scope = { owners: [owner] };
    const scan = new SeriesScan(this.#db, { scope, matchers, lookMax: looks.left }, looks.deadline);
    const only = labels && labelsToText(labels);
    for (const series of scan.each(undefined)) {
      if (only === undefined || only === series.labels) yield findSeries(this.#db, "id = ?", series.id)[0]!;
    }
    looks.left = scan.left;
    if (scan.stoppedAt !== undefined) throw tooManyLooks();
  }

  /** If points of a series are lost for good, the others must not look complete. */
  #requireWhole(entry: SeriesEntry): void {
    const damage = this.#damageOf(entry);
    if (damage === undefined) return;
    throw new CairnError("corrupt", `cannot read series ${quote(entry.key)}: ${damage}`, {
      reason: "LOG_DAMAGED",
      hint: "restore a backup; verify says what is damaged",
    });
  }

  #damageOf(entry: SeriesEntry): string | undefined {
    const row = this.#tail.damageOf(entry).at(-1);
    return row === undefined ? entry.damaged : lostIn(row);
  }

  #ownerKey(owner: SeriesOwner): number | undefined {
    return owner.host === undefined ? this.#runKey(owner.runId) : new Hosts(this.#db).findKey(owner.host);
  }

  #runKey(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }
}

/** Without what else the selector has. */
function ownerIn({ runId, host }: SeriesOwner): SeriesOwner {
  return host === undefined ? { runId } : { host };
}

/** Of a series in a list besides its key, its labels and texts in its summary. */
const INFO_BYTES = 400;
function noSeriesOf(key: string): MetricKey {
  const seen = { seriesCount: 0, hasLabels: false, hasNumbers: false, replacedCount: 0 };
  return { key, ...seen, firstTimeUs: undefined };
}

function addToKey(known: MetricKey, { labels, state: { kind, summary } }: SeriesEntry): void {
  known.seriesCount++;
  known.hasLabels ||= labels !== NO_PLACE.labels;
  known.hasNumbers ||= kind !== "text";
  known.replacedCount += summary.replacedCount;
  const timeUs = summary.first?.timeUs;
  if (timeUs !== undefined) known.firstTimeUs = Math.min(known.firstTimeUs ?? Infinity, timeUs);
}

/** What the matchers of one request may still look at, and for how long. */
interface Looks {
  left: number;
  deadline?: PatternDeadline;
}

/** A key without matchers is looked up. */
const NO_LOOKS: Looks = { left: 0 };

function tooManyLooks(): CairnError {
  const max = limits.readLookMax;
  return new CairnError("exhausted", `cannot read series: their matchers look at more than ${max} series`, {
    reason: "LIMIT_EXCEEDED",
    facts: { limit: String(max) },
    hint: "give selectors a key",
  });
}

// Keys are never empty, so everything lies beyond.
const NO_PLACE = { key: "", labels: "" };

function toInfo(entry: SeriesEntry): SeriesInfo {
  const { state } = entry;
  return { key: entry.key, labels: labelsFromText(entry.labels), kind: state.kind, summary: state.summary };
}

/** What the state of a series of texts holds besides numbers. */
function sampleBytes({ state: { summary } }: SeriesEntry): number {
  return (summary.first?.text?.length ?? 0) + (summary.last?.text?.length ?? 0);
}

/** The series of a page, and how many there are in all where they are counted; `more` says that some lie behind it. */
function placesOf(
  scan: SeriesScan,
  request: SelectSeries,
  isCounted: boolean,
): { places: (Place & { id: number; bytes: number })[]; total: number; more: boolean } {
  const places: (Place & { id: number; bytes: number })[] = [];
  let total = 0;
  let more = false;
  let left = request.bytesMax;
  for (const series of scan.each(fromToken(request.after), { before: isCounted })) {
    total++;
    if (!series.isAfter || more) continue;
    const bytes = INFO_BYTES + Buffer.byteLength(series.key) + Buffer.byteLength(series.labels);
    left -= bytes;
    more = places.length >= request.limit || (left < 0 && places.length > 0);
    if (!more) places.push({ ...series, bytes });
    else if (!isCounted) break;
  }
  return { places, total, more };
}

function textsOf({ key, labels }: Place, label: string | undefined): string[] {
  if (label === "") return [key];
  const pairs = labelsFromText(labels);
  if (label === undefined) return pairs.map(([name]) => name);
  return pairs.filter(([name]) => name === label).map(([, value]) => value);
}
