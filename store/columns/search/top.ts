import type { Ordering, Place } from "./ordering.ts";

export interface Entry {
  readonly row: number;
  readonly place: Place;
}

/** Offered rows between two checks of how far the worst has moved. */
const OFFERS_BETWEEN_CUTS = 64;

/** The first `limit` of all rows offered, in a heap with the worst of them on top. */
export class Top {
  readonly #ordering: Ordering;
  readonly #limit: number;
  readonly #heap: Entry[] = [];
  #seed = 1;

  constructor(ordering: Ordering, limit: number) {
    this.#ordering = ordering;
    this.#limit = limit;
  }

  /** Adds rows `lo + offset`. Overwrites `selection`. */
  offer(lo: number, hi: number, selection: Uint16Array, count: number): void {
    if (this.#limit === 0) return;
    let left = count;
    while (left > 0) {
      const worst = this.#heap.length < this.#limit ? undefined : this.#heap[0]!;
      if (worst !== undefined) {
        left = this.#ordering.keepBeyond(worst.place, -1, lo, hi, selection, left);
      }
      const room = this.#limit - this.#heap.length;
      for (let taken = Math.min(left, Math.max(room, OFFERS_BETWEEN_CUTS)); taken > 0; taken--) {
        const at = this.#draw(left);
        const row = lo + selection[at]!;
        selection[at] = selection[--left]!;
        this.#add({ row, place: this.#ordering.place(row) });
      }
    }
  }

  /**
   * Which row is next: names and ids mostly rise with the rows, and if rows came in the reverse sort order, each would be better than
   * all before it.
   */
  #draw(count: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * count);
  }

  /** In order. The heap is empty afterwards. */
  take(): Entry[] {
    return this.#heap.splice(0).sort((a, b) => this.#ordering.compare(a.place, b.place));
  }

  #add(entry: Entry): void {
    const heap = this.#heap;
    if (heap.length < this.#limit) {
      let at = heap.length;
      for (let above = (at - 1) >> 1; at > 0 && this.#worse(entry, heap[above]!); above = (at - 1) >> 1) {
        heap[at] = heap[above]!;
        at = above;
      }
      heap[at] = entry;
    } else if (this.#worse(heap[0]!, entry)) this.#replaceWorst(entry);
  }

  #replaceWorst(entry: Entry): void {
    const heap = this.#heap;
    let at = 0;
    for (let below = 1; below < heap.length; below = 2 * at + 1) {
      if (below + 1 < heap.length && this.#worse(heap[below + 1]!, heap[below]!)) below++;
      if (!this.#worse(heap[below]!, entry)) break;
      heap[at] = heap[below]!;
      at = below;
    }
    heap[at] = entry;
  }

  #worse(a: Entry, b: Entry): boolean {
    return this.#ordering.compare(a.place, b.place) > 0;
  }
}
