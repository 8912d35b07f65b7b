import type { Marks } from "#sdk/series.ts";

/** Twice as many buckets as a wide terminal has columns of dots; beyond that neighbours are merged. */
const BUCKETS_MAX = 512;

interface Bucket {
  x: number;
  count: number;
  sum: number;
  numbers: number;
  low: number;
  high: number;
  first: number;
  last: number;
}

/**
 * A growing series in bounded memory: the least, largest, first and last value of every bucket. When there are too many
 * buckets, each two are merged, so no spike is lost and all have about equally many points.
 */
export class History {
  #buckets: Bucket[] = [];
  #pointsPerBucket = 1;
  #last = NaN;
  #lastX = -Infinity;
  #pointCount = 0;

  get last(): number {
    return this.#last;
  }

  /** Of the newest point; -Infinity before the first. */
  get lastX(): number {
    return this.#lastX;
  }

  get pointCount(): number {
    return this.#pointCount;
  }

  /** Takes over what was read from the server: points, or the buckets of a band. */
  static of(marks: Marks): History {
    const history = new History();
    for (let i = 0; i < marks.x.length; i++) {
      const count = marks.count[i]!;
      const mean = marks.mean[i]!;
      history.#push({
        x: marks.x[i]!,
        count,
        sum: Number.isNaN(mean) ? 0 : mean * count,
        numbers: Number.isNaN(mean) ? 0 : count,
        low: marks.low[i]!,
        high: marks.high[i]!,
        first: marks.first[i]!,
        last: marks.last[i]!,
      });
      history.#pointsPerBucket = Math.max(history.#pointsPerBucket, count);
    }
    return history;
  }

  add(x: number, value: number): void {
    const known = Number.isNaN(value) ? 0 : 1;
    const open = this.#buckets.at(-1);
    const one = {
      x,
      count: 1,
      sum: known === 0 ? 0 : value,
      numbers: known,
      low: value,
      high: value,
      first: value,
      last: value,
    };
    if (open === undefined || open.count >= this.#pointsPerBucket) this.#push(one);
    else {
      this.#buckets[this.#buckets.length - 1] = merged(open, one);
      this.#count(one);
    }
  }

  #push(bucket: Bucket): void {
    if (this.#buckets.length >= BUCKETS_MAX) {
      this.#buckets = Array.from({ length: BUCKETS_MAX / 2 }, (_, i) =>
        merged(this.#buckets[2 * i]!, this.#buckets[2 * i + 1]!),
      );
      this.#pointsPerBucket *= 2;
    }
    this.#buckets.push(bucket);
    this.#count(bucket);
  }

  #count({ x, count, last }: Bucket): void {
    this.#pointCount += count;
    this.#last = last;
    this.#lastX = x;
  }

  marks(): Marks {
    const column = (of: (bucket: Bucket) => number) => Float64Array.from(this.#buckets, of);
    return {
      x: column(({ x }) => x),
      low: column(({ low }) => low),
      high: column(({ high }) => high),
      first: column(({ first }) => first),
      last: column(({ last }) => last),
      mean: column(meanOf),
      count: column(({ count }) => count),
    };
  }

  /** Whether every point is a mark of its own. */
  get isExact(): boolean {
    return this.#pointCount === this.#buckets.length;
  }

  /**
   * One value for each of at most `width` columns: the mean, or an extreme far from all means, so that a single outlier
   * is visible.
   */
  columns(width: number): number[] {
    const buckets = this.#buckets;
    const length = Math.min(width, buckets.length);
    const groups = Array.from({ length }, (_, i) =>
      buckets
        .slice(Math.floor((i * buckets.length) / length), Math.floor(((i + 1) * buckets.length) / length))
        .reduce(merged),
    );
    const means = groups.map(meanOf).filter(Number.isFinite);
    const low = Math.min(...means);
    const high = Math.max(...means);
    return groups.map((group) => {
      if (group.high > high + (high - low)) return group.high;
      return group.low < low - (high - low) ? group.low : meanOf(group);
    });
  }
}

function meanOf({ sum, numbers }: Bucket): number {
  return numbers === 0 ? NaN : sum / numbers;
}

/** Merges two neighbours. Extremes ignore NaN. */
function merged(a: Bucket, b: Bucket): Bucket {
  return {
    x: a.x,
    count: a.count + b.count,
    sum: a.sum + b.sum,
    numbers: a.numbers + b.numbers,
    low: Number.isNaN(a.low) ? b.low : Number.isNaN(b.low) ? a.low : Math.min(a.low, b.low),
    high: Number.isNaN(a.high) ? b.high : Number.isNaN(b.high) ? a.high : Math.max(a.high, b.high),
    first: a.first,
    last: b.last,
  };
}
