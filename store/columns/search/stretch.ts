/**
 * Rows from the middle of an order, without sorting what is before them. The sort values of each row are laid out as numbers, one lane per key and only as far as
 * ties need it; then rows are divided around a random pivot, repeatedly, on the sides where the stretch begins and ends. Only the stretch
 * itself is sorted. About three comparisons per row in all, wherever it is.
 */
import type { Lane, Ordering } from "./ordering.ts";
import type { Entry } from "./top.ts";

const ROWS_FIRST = 1024;

export class Stretch {
  readonly #ordering: Ordering;
  readonly #from: number;
  readonly #limit: number;
  readonly #lanes: Lane[] = [];
  #rows = new Uint32Array(ROWS_FIRST);
  #count = 0;
  #seed = 1;

  /** `limit` rows after the first `from`. */
  constructor(ordering: Ordering, from: number, limit: number) {
    this.#ordering = ordering;
    this.#from = from;
    this.#limit = limit;
  }

  /** Adds rows `lo + offset`. */
  offer(lo: number, _hi: number, selection: Uint16Array, count: number): void {
    if (this.#count + count > this.#rows.length) {
      const larger = new Uint32Array(2 * (this.#count + count));
      larger.set(this.#rows.subarray(0, this.#count));
      this.#rows = larger;
    }
    for (let at = 0; at < count; at++) this.#rows[this.#count++] = lo + selection[at]!;
  }

  /** In order. */
  take(): Entry[] {
    const end = Math.min(this.#count, this.#from + this.#limit);
    if (this.#from >= end) return [];
    const places = new Uint32Array(this.#count);
    for (let place = 0; place < places.length; place++) places[place] = place;
    this.#divide(places, this.#from, 0, this.#count);
    this.#divide(places, end, this.#from, this.#count);
    const found = [...places.subarray(this.#from, end)].sort((a, b) => this.#compare(a, b));
    return found.map((place) => {
      const row = this.#rows[place]!;
      return { row, place: this.#ordering.place(row) };
    });
  }

  /** Moves the first `at` of all to the front, given that those before `low` and from `high` on are in place. */
  #divide(places: Uint32Array, at: number, low: number, high: number): void {
    let lo = low;
    let hi = high - 1;
    while (lo < hi && at > lo && at <= hi) {
      const pivot = places[lo + this.#draw(hi - lo + 1)]!;
      let left = lo;
      let right = hi;
      while (left <= right) {
        while (this.#compare(places[left]!, pivot) < 0) left++;
        while (this.#compare(places[right]!, pivot) > 0) right--;
        if (left > right) break;
        const swapped = places[left]!;
        places[left++] = places[right]!;
        places[right--] = swapped;
      }
      // Up to `right` all are before the pivot or it, from `left` on after it or it.
      if (at <= right) hi = right;
      else if (at >= left) lo = left;
      else return;
    }
  }

  #compare(a: number, b: number): number {
    if (a === b) return 0;
    for (let key = 0; key < this.#ordering.keyCount; key++) {
      const { classes, numbers } = (this.#lanes[key] ??= this.#ordering.lane(key, this.#rows, this.#count));
      const difference = classes[a]! - classes[b]!;
      if (difference !== 0) return difference;
      const [one, other] = [numbers[a]!, numbers[b]!];
      if (one < other) return -1;
      if (one > other) return 1;
    }
    return 0;
  }

  /** Always the same numbers: neither the result nor the time may depend on chance. */
  #draw(count: number): number {
    this.#seed = (Math.imul(this.#seed, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#seed / 2 ** 32) * count);
  }
}
