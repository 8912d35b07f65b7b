import type { SeriesEntry } from "./catalog.ts";

/**
 * The series in the order of their last points, as a chain through the entries: moving one to its end costs nothing
 * worth counting, and those with points after a position are found from the end, without looking at the others.
 */
export class RecentSeries {
  #newest: SeriesEntry | undefined;
  #floor = 0;

  /** Every series with points after this position is in the chain. */
  get floor(): number {
    return this.#floor;
  }

  touch(entry: SeriesEntry, pos: number): void {
    entry.touchedPos = pos;
    if (entry === this.#newest) return;
    this.remove(entry);
    entry.older = this.#newest;
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
  }

  /** Those with points after a position that is not below the floor, the latest first. */
  *since(pos: number): Generator<SeriesEntry> {
    for (let entry = this.#newest; entry !== undefined && entry.touchedPos > pos; entry = entry.older) {
      yield entry;
    }
  }

  remove(entry: SeriesEntry): void {
    const { older, newer } = entry;
    if (older !== undefined) older.newer = newer;
    if (newer !== undefined) newer.older = older;
    if (entry === this.#newest) this.#newest = older;
    entry.older = entry.newer = undefined;
  }

  /** Knows from now on only what comes after `pos`. */
  clear(pos: number): void {
    this.#newest = undefined;
    this.#floor = pos;
  }
}
