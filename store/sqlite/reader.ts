import { CairnError, quote } from "#lang/errors.ts";
import type { SeriesInfo } from "#core/types/series.ts";
import type {
  ListedMetricKeys,
  ListedSeries,
  ListMetricKeys,
  ListSeries,
  MetricKey,
  ReadGroups,
  ReadGroupsResult,
  ReadSeries,
  ReadSeriesResult,
  SeriesSelector,
} from "#core/ports/point-store.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import { PatternDeadline } from "#lang/query/pattern-deadline.ts";
import { addPoints, summarize } from "#core/series/state.ts";
import { ReadBudget } from "#core/series/read-budget.ts";
import { eachSeries, findSeries, type SeriesEntry } from "./series/catalog.ts";
import { readablePieces } from "./series/chunks.ts";
import type { Db } from "./file/db.ts";
import { labelsFromText, labelsToText } from "./series/labels.ts";
import { readGroups, tooManySeries } from "./series/read-groups.ts";
import { readAll, type CurrentSeries, type Selected } from "./series/read-series.ts";
import { LOG_COLUMNS, lostIn, readLogRow } from "./journal/log.ts";
import type { LogRow, Tail } from "./journal/tail.ts";
import { damagedRows, verifySeries } from "./file/verify.ts";

/**
 * Reads series from chunks and log inside one read transaction, hence one moment of the store. A
 * reader with a connection of its own follows the log by itself: rows it has not seen are read
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

  list(request: ListSeries): ListedSeries {
    return this.moment(() => {
      const run = this.#runKey(request.runId);
      if (run === undefined) return { series: [], total: 0, next: undefined };
      const { places, total, more } = this.#matching(run, request);
      const series: SeriesInfo[] = [];
      let left = request.bytesMax;
      for (const { id, bytes } of places) {
        const { entry } = this.#current(findSeries(this.#db, "id = ?", id)[0]!);
        left -= bytes + sampleBytes(entry);
        if (left < 0 && series.length > 0) break;
        series.push(toInfo(entry));
      }
      const last = series.at(-1);
      const isCut = more || series.length < places.length;
      return { series, total, next: last !== undefined && isCut ? token(last) : undefined };
    });
  }

  keys(request: ListMetricKeys): ListedMetricKeys {
    return this.moment(() => {
      const run = this.#runKey(request.runId);
      if (run === undefined) return { keys: [], next: undefined };
      const after = request.after === undefined ? NO_PLACE : fromToken(request.after);
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
      return { keys, next: last !== undefined && looked === request.limit ? token(toInfo(last)) : undefined };
    });
  }

  read(request: ReadSeries): ReadSeriesResult {
    return this.moment(() => {
      const budget = new ReadBudget(request);
      const selected = new Map<number, Selected>();
      for (const selector of request.selectors) {
        for (const { entry, logged } of this.#select(selector)) {
          if (selected.has(entry.id)) continue;
          budget.spend({ series: 1, textBytes: Buffer.byteLength(entry.key + entry.labels) });
          budget.hold(sampleBytes(entry));
          selected.set(entry.id, { runId: selector.runId, entry, logged });
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
          for (const one of this.#select({ ...request, runId })) {
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

  /** Reads every point of a run; call inside `moment`. Returns how many came back with their checksums right. */
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
    if (!this.#follows) return work();
    return this.#db.snapshot(() => {
      this.#follow();
      return work();
    });
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
      // Once rewound, the summary is made anew anyway; the rest must still be counted.
      rewound = addPoints(entry.state, points, writer) || rewound;
    }
    if (rewound) summarize(entry.state, readablePieces(this.#db, entry, this.#tail));
    return { entry, logged };
  }

  /** One after the other: a key may have more label sets than there is memory for. */
  *#select({ runId, key, labels }: SeriesSelector): Generator<CurrentSeries> {
    const run = this.#runKey(runId);
    if (run === undefined) return;
    const found =
      labels === undefined
        ? eachSeries(this.#db, "run = ? AND key = ? ORDER BY labels", run, key)
        : findSeries(this.#db, "run = ? AND key = ? AND labels = ?", run, key, labelsToText(labels));
    for (const entry of found) {
      this.#requireWhole(entry);
      yield this.#current(entry);
    }
  }

  /** Where points of a series are lost for good, what is left must not look like all of it. */
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

  #runKey(id: string): number | undefined {
    const row = this.#db.find("SELECT key FROM run WHERE id = ?", id);
    return row === undefined ? undefined : Number(row[0]);
  }

  /** The series of a page, and how many there are in all; `more` says that some lie behind the page. */
  #matching(
    run: number,
    request: ListSeries,
  ): { places: { id: number; bytes: number }[]; total: number; more: boolean } {
    const pattern = request.pattern && compilePattern(request.pattern.regex, "regex");
    const matches = pattern && new PatternDeadline("list series").test(pattern);
    const after = request.after === undefined ? NO_PLACE : fromToken(request.after);
    const places: { id: number; bytes: number }[] = [];
    let total = 0;
    let more = false;
    let left = request.bytesMax;
    let lastKey = "";
    let lastMatches = true;
    const rows = this.#db.each(
      "SELECT id, key, labels, (key, labels) > (?, ?) FROM series WHERE run = ? ORDER BY key, labels",
      after.key,
      after.labels,
      run,
    );
    for (const [id, key, labels, isBehind] of rows) {
      if (key !== lastKey) {
        lastKey = String(key);
        lastMatches = matches === undefined || matches(lastKey);
      }
      if (!lastMatches) continue;
      total++;
      if (isBehind !== 1 || more) continue;
      const bytes = INFO_BYTES + Buffer.byteLength(lastKey) + Buffer.byteLength(String(labels));
      left -= bytes;
      more = places.length >= request.limit || (left < 0 && places.length > 0);
      if (!more) places.push({ id: Number(id), bytes });
    }
    return { places, total, more };
  }
}

/** Of a series in a list besides its key, its labels and texts in its summary. */
const INFO_BYTES = 400;
function noSeriesOf(key: string): MetricKey {
  return { key, seriesCount: 0, hasLabels: false, replacedCount: 0, firstTimeUs: undefined };
}

function addToKey(known: MetricKey, { labels, state: { summary } }: SeriesEntry): void {
  known.seriesCount++;
  known.hasLabels ||= labels !== NO_PLACE.labels;
  known.replacedCount += summary.replacedCount;
  const timeUs = summary.first?.timeUs;
  if (timeUs !== undefined) known.firstTimeUs = Math.min(known.firstTimeUs ?? Infinity, timeUs);
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

function token({ key, labels }: SeriesInfo): string {
  return Buffer.from(JSON.stringify([key, labelsToText(labels)])).toString("base64url");
}

function fromToken(text: string): { key: string; labels: string } {
  try {
    const [key, labels] = JSON.parse(Buffer.from(text, "base64url").toString()) as unknown[];
    if (typeof key === "string" && typeof labels === "string") return { key, labels };
  } catch {
    // Falls through to the one error below.
  }
  throw new CairnError("invalid", `cannot read page token "${text.slice(0, 100)}"`, { reason: "PAGE_TOKEN" });
}
