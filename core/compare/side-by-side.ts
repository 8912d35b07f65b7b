import { compareCodePoints } from "#lang/code-points.ts";
import { limits } from "#lang/limits.ts";
import type { PointStore } from "../ports/point-store.ts";
import type { Matcher } from "../types/matchers.ts";
import { labelsText, type SeriesInfo } from "../types/series.ts";

/** How many series are read in all, and of each run at once. */
export interface SeriesBounds {
  seriesMax: number;
  pageSize: number;
}

const BOUNDS: SeriesBounds = { seriesMax: limits.comparedSeriesMax, pageSize: 1_000 };

/**
 * The series of several runs in parts that end at the same place in all runs: by key, then by labels, which is the order
 * of the store. So a series that a part does not have of one run is missing in that run, however little of it was read.
 */
export class SideBySide {
  readonly #cursors: readonly Cursor[];
  #left: number;
  #isCut = false;

  constructor(points: PointStore, runIds: readonly string[], matchers: readonly Matcher[], bounds = BOUNDS) {
    this.#cursors = runIds.map((runId) => new Cursor(points, runId, matchers, bounds.pageSize));
    this.#left = bounds.seriesMax;
  }

  /** Whether the parts ended before the series did. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** Each part has a list of every run, in the order of the runs. */
  async *parts(signal: AbortSignal | undefined): AsyncGenerator<SeriesInfo[][]> {
    for (;;) {
      for (const cursor of this.#cursors) this.#left -= await cursor.fill(signal);
      const ends = this.#cursors.flatMap(({ end }) => end ?? []);
      const end = ends.reduce<Place | undefined>(
        (least, one) => (least === undefined || comparePlaces(one, least) < 0 ? one : least),
        undefined,
      );
      yield this.#cursors.map((cursor) => cursor.takeUpTo(end));
      if (end === undefined) return;
      this.#isCut = this.#left <= 0;
      if (this.#isCut) return;
    }
  }
}

interface Place {
  key: string;
  labels: string;
}

/** What was read of one run and not taken yet. */
class Cursor {
  readonly #points: PointStore;
  readonly #request: Parameters<PointStore["selectSeries"]>[0];
  #after: string | undefined;
  #isAtEnd = false;
  #waiting: { place: Place; info: SeriesInfo }[] = [];

  constructor(points: PointStore, runId: string, matchers: readonly Matcher[], limit: number) {
    this.#points = points;
    this.#request = {
      scope: { owners: [{ runId }] },
      matchers,
      lookMax: limits.selectLookMax,
      pattern: undefined,
      after: undefined,
      limit,
      bytesMax: limits.pageBytesMax,
      isCounted: false,
    };
  }

  /** The last series that was read; undefined once there are no more. */
  get end(): Place | undefined {
    return this.#isAtEnd ? undefined : this.#waiting.at(-1)?.place;
  }

  /** Reads on when everything was taken. Returns how many series it read. */
  async fill(signal: AbortSignal | undefined): Promise<number> {
    while (this.#waiting.length === 0 && !this.#isAtEnd) {
      const { series, next } = await this.#points.selectSeries(
        { ...this.#request, after: this.#after },
        signal,
      );
      this.#waiting = series.map((info) => ({
        place: { key: info.key, labels: labelsText(info.labels) },
        info,
      }));
      this.#after = next;
      this.#isAtEnd = next === undefined;
      if (series.length > 0) return series.length;
    }
    return 0;
  }

  takeUpTo(end: Place | undefined): SeriesInfo[] {
    const from = this.#waiting.findIndex(({ place }) => end !== undefined && comparePlaces(place, end) > 0);
    const taken = this.#waiting.splice(0, from < 0 ? this.#waiting.length : from);
    return taken.map(({ info }) => info);
  }
}

function comparePlaces(a: Place, b: Place): number {
  return compareCodePoints(a.key, b.key) || compareCodePoints(a.labels, b.labels);
}
