import type { BandData, Grid } from "../ports/point-store.ts";

/**
 * The min/max band: every point falls into one bucket of a grid, so no other point can hide a
 * spike. Points may come in any order and in any number of pieces.
 */
export class Buckets {
  readonly #grid: Grid;
  readonly #count: Float64Array;
  readonly #nanCount: Float64Array;
  readonly #sum: Float64Array;
  readonly #min: Float64Array;
  readonly #max: Float64Array;
  readonly #first: Float64Array;
  readonly #firstAt: Float64Array;
  readonly #last: Float64Array;
  readonly #lastAt: Float64Array;
  #points = 0;

  constructor(grid: Grid, size: number) {
    this.#grid = grid;
    this.#count = new Float64Array(size);
    this.#nanCount = new Float64Array(size);
    this.#sum = new Float64Array(size);
    this.#min = new Float64Array(size).fill(Infinity);
    this.#max = new Float64Array(size).fill(-Infinity);
    this.#first = new Float64Array(size);
    this.#firstAt = new Float64Array(size).fill(Infinity);
    this.#last = new Float64Array(size);
    this.#lastAt = new Float64Array(size).fill(-Infinity);
  }

  get points(): number {
    return this.#points;
  }

  /**
   * `at` is the axis, ascending or not; a point whose axis is NaN or outside [from, to], or that is
   * marked in `skip`, is left out.
   */
  add(
    at: Float64Array,
    values: Float64Array | Uint8Array,
    range: { from: number; to: number },
    skip: Uint8Array | undefined,
  ): void {
    const { start, width } = this.#grid;
    const { from, to } = range;
    const size = this.#count.length;
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
      let min = Infinity;
      let max = -Infinity;
      let sum = 0;
      let count = 0;
      let nans = 0;
      let firstAt = Infinity;
      let lastAt = -Infinity;
      let first = 0;
      let last = 0;
      // Neighbours mostly share a bucket: stay in registers until one does not.
      for (; i < length; i++) {
        const position = at[i]!;
        if (!(position >= low && position < high && position <= to)) break;
        if (skip !== undefined && skip[i] === 1) continue;
        const value = values[i]!;
        count++;
        if (value === value) {
          sum += value;
          if (value < min) min = value;
          if (value > max) max = value;
        } else nans++;
        if (position < firstAt) {
          firstAt = position;
          first = value;
        }
        if (position >= lastAt) {
          lastAt = position;
          last = value;
        }
      }
      this.#points += count;
      this.#count[bucket]! += count;
      this.#nanCount[bucket]! += nans;
      this.#sum[bucket]! += sum;
      if (min < this.#min[bucket]!) this.#min[bucket] = min;
      if (max > this.#max[bucket]!) this.#max[bucket] = max;
      if (firstAt < this.#firstAt[bucket]!) {
        this.#firstAt[bucket] = firstAt;
        this.#first[bucket] = first;
      }
      if (lastAt >= this.#lastAt[bucket]!) {
        this.#lastAt[bucket] = lastAt;
        this.#last[bucket] = last;
      }
    }
  }

  /** Only the buckets that hold a point. */
  finish(): BandData {
    const size = this.#count.length;
    const filled = new Uint32Array(size);
    let used = 0;
    for (let b = 0; b < size; b++) if (this.#count[b]! > 0) filled[used++] = b;
    const places = filled.subarray(0, used);
    const mean = new Float64Array(size);
    for (const b of places) {
      const numbers = this.#count[b]! - this.#nanCount[b]!;
      mean[b] = this.#sum[b]! / numbers;
      if (numbers === 0) this.#min[b] = this.#max[b] = NaN;
    }
    return {
      form: "band",
      bucket: Float64Array.from(places),
      count: pick(this.#count, places),
      min: pick(this.#min, places),
      max: pick(this.#max, places),
      first: pick(this.#first, places),
      last: pick(this.#last, places),
      mean: pick(mean, places),
      nanCount: pick(this.#nanCount, places),
    };
  }
}

function pick(column: Float64Array, places: Uint32Array): Float64Array {
  // Mostly every bucket holds a point.
  if (places.length === column.length) return column;
  const picked = new Float64Array(places.length);
  for (let i = 0; i < places.length; i++) picked[i] = column[places[i]!]!;
  return picked;
}

/** A grid of at most `buckets` equal buckets over [low, high], both ends inside. */
export function gridOver(low: number, high: number, buckets: number): Grid {
  const span = high - low;
  // Positions are integers, so a bucket narrower than 1 would only stay empty.
  const width = Math.max(1, (span + 1) / buckets);
  return { start: low, width };
}

/** The bucket of a grid of `size` buckets that holds x. */
export function bucketOf({ start, width }: Grid, size: number, x: number): number {
  // The last bucket also holds positions that rounding would push off the grid.
  let bucket = Math.min(size - 1, Math.max(0, Math.floor((x - start) / width)));
  // The quotient may be rounded into the bucket beside the one whose bounds hold x.
  while (bucket > 0 && x < start + bucket * width) bucket--;
  while (bucket < size - 1 && x >= start + (bucket + 1) * width) bucket++;
  return bucket;
}
