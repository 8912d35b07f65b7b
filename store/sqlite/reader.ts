import { CairnError, quote } from "#core/errors.ts";
import type { SeriesInfo } from "#core/model/series.ts";
import type {
  ListedSeries,
  ListSeries,
  ReadGroups,
  ReadGroupsResult,
  ReadSeries,
  ReadSeriesResult,
  SeriesSelector,
} from "#core/ports/point-store.ts";
import { compilePattern } from "#core/query/pattern.ts";
import { PatternDeadline } from "#core/query/pattern-deadline.ts";
import { addPoints, summarize } from "#core/series/state.ts";
import { findSeries, type SeriesEntry } from "./catalog.ts";
import { readablePieces } from "./chunks.ts";
import type { Db } from "./db.ts";
import { labelsFromText, labelsToText } from "./labels.ts";
import { readGroups, type GroupedRun } from "./read-groups.ts";
import { readAll, type CurrentSeries } from "./read-series.ts";
import { LOG_COLUMNS, lostIn, readLogRow } from "./log.ts";
import type { LogRow, Tail } from "./tail.ts";
import { damagedRows, verifySeries, type Verified } from "./verify.ts";

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
      const selected = this.#matching(run, request);
      const from = selected.findIndex((place) => place.onPage);
      const page = from < 0 ? [] : selected.slice(from, from + request.limit);
      const last = page.at(-1);
      return {
        series: page.map(({ id }) => toInfo(this.#current(findSeries(this.#db, "id = ?", id)[0]!).entry)),
        total: selected.length,
        next: last !== undefined && from + page.length < selected.length ? token(last) : undefined,
      };
    });
  }

  read(request: ReadSeries): ReadSeriesResult {
    return this.moment(() => {
      const entries = request.selectors.flatMap((selector) =>
        this.#select(selector).map(({ entry, logged }) => ({ runId: selector.runId, entry, logged })),
      );
      return readAll(this.#db, entries, request);
    });
  }

  groups(request: ReadGroups): ReadGroupsResult {
    return this.moment(() => {
      // A run may be in several groups.
      const known = new Map<string, GroupedRun["series"]>();
      const seriesOf = (runId: string) => {
        let series = known.get(runId);
        if (series === undefined) known.set(runId, (series = this.#select({ ...request, runId })));
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

  /** Reads every point of a run; call inside `moment`. */
  verify(run: number): Verified {
    let points = 0;
    const problems: string[] = [];
    for (const stored of findSeries(this.#db, "run = ?", run)) {
      try {
        const damaged = this.#damageOf(stored);
        const found = verifySeries(this.#db, this.#current({ ...stored, damaged }));
        points += found.points;
        problems.push(...found.problems);
      } catch (thrown) {
        // The database itself is damaged where the series lies.
        const { code, message } = CairnError.from(thrown);
        if (code !== "corrupt") throw thrown;
        problems.push(`series ${quote(stored.key)}: ${message}`);
      }
    }
    return { points, problems };
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

  #select({ runId, key, labels }: SeriesSelector): CurrentSeries[] {
    const run = this.#runKey(runId);
    if (run === undefined) return [];
    const found =
      labels === undefined
        ? findSeries(this.#db, "run = ? AND key = ? ORDER BY labels", run, key)
        : findSeries(this.#db, "run = ? AND key = ? AND labels = ?", run, key, labelsToText(labels));
    for (const entry of found) this.#requireWhole(entry);
    return found.map((entry) => this.#current(entry));
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

  #matching(run: number, request: ListSeries): SeriesPlace[] {
    const pattern = request.pattern && compilePattern(request.pattern.regex, "regex");
    const matches = pattern && new PatternDeadline("list series").test(pattern);
    const after = request.after === undefined ? NO_PLACE : fromToken(request.after);
    const places: SeriesPlace[] = [];
    let lastKey = "";
    let lastMatches = true;
    const rows = this.#db.each(
      "SELECT id, key, labels, (key, labels) > (?, ?) FROM series WHERE run = ? ORDER BY key, labels",
      after.key,
      after.labels,
      run,
    );
    for (const [id, key, labels, onPage] of rows) {
      if (key !== lastKey) {
        lastKey = String(key);
        lastMatches = matches === undefined || matches(lastKey);
      }
      if (lastMatches) {
        places.push({ id: Number(id), key: lastKey, labels: String(labels), onPage: onPage === 1 });
      }
    }
    return places;
  }
}

interface SeriesPlace {
  id: number;
  key: string;
  labels: string;
  /** Whether it lies beyond the page token. */
  onPage: boolean;
}

// Keys are never empty, so everything lies beyond.
const NO_PLACE = { key: "", labels: "" };

function toInfo(entry: SeriesEntry): SeriesInfo {
  const { state } = entry;
  return { key: entry.key, labels: labelsFromText(entry.labels), kind: state.kind, summary: state.summary };
}

function token({ key, labels }: SeriesPlace): string {
  return Buffer.from(JSON.stringify([key, labels])).toString("base64url");
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
