import type { Grid } from "../ports/point-store.ts";
import { bucketOf } from "./buckets.ts";

/** The means of one run per bucket of a grid. Its points may come in any order and in any number of pieces. */
export class RunMeans {
  readonly #grid: Grid;
  readonly #sum: Float64Array;
  /** Points, and those of them that are not NaN. */
  readonly #count: Float64Array;
  readonly #numbers: Float64Array;
  #points = 0;

  constructor(grid: Grid, size: number) {
    this.#grid = grid;
    this.#sum = new Float64Array(size);
    this.#count = new Float64Array(size);
    this.#numbers = new Float64Array(size);
  }

  /** How many points came in since the last `clear`. */
  get points(): number {
    return this.#points;
  }

  clear(): void {
    this.#points = 0;
    this.#sum.fill(0);
    this.#count.fill(0);
    this.#numbers.fill(0);
  }

  /** As `Buckets.add`. */
  add(
    at: Float64Array,
    values: Float64Array | Uint8Array,
    range: { from: number; to: number },
    skip: Uint8Array | undefined,
  ): void {
    const { start, width } = this.#grid;
    const { from, to } = range;
    const size = this.#sum.length;
    const length = at.length;
    let i = 0;
    while (i < length) {
      const x = at[i]!;
      if (!(x >= from && x <= to) || skip?.[i] === 1) {
        i++;
        continue;
      }
      const bucket = bucketOf(this.#grid, size, x);
      const low = bucket === 0 ? from : Math.max(from, start + bucket * width);
      const high = bucket === size - 1 ? Infinity : start + (bucket + 1) * width;
      let sum = 0;
      let count = 0;
      let numbers = 0;
      // Neighbours mostly share a bucket: stay in registers until one does not.
      for (; i < length; i++) {
        const position = at[i]!;
        if (!(position >= low && position < high && position <= to)) break;
        if (skip !== undefined && skip[i] === 1) continue;
        const value = values[i]!;
        count++;
        if (value === value) {
          sum += value;
          numbers++;
        }
      }
      this.#points += count;
      this.#count[bucket]! += count;
      this.#numbers[bucket]! += numbers;
      this.#sum[bucket]! += sum;
    }
  }

  /** `take` is called for each bucket that holds a point, with the mean of its numbers where it has one. */
  each(take: (bucket: number, mean: number | undefined) => void): void {
    const size = this.#sum.length;
    for (let bucket = 0; bucket < size; bucket++) {
      if (this.#count[bucket] === 0) continue;
      const numbers = this.#numbers[bucket]!;
      take(bucket, numbers === 0 ? undefined : this.#sum[bucket]! / numbers);
    }
  }
}
