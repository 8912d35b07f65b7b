import type { GroupColumns } from "../ports/point-store.ts";
import type { RunMeans } from "./group-means.ts";

/**
 * Statistics over the runs of one group, bucket by bucket. Values are kept side by side: bucket b has the
 * `runs` places from b * runs on, filled as runs come.
 */
export class GroupStatistics {
  readonly #runs: number;
  readonly #values: Float64Array;
  readonly #taken: Uint32Array;
  /** 1 for buckets that hold a point, be it NaN. */
  readonly #held: Uint8Array;
  #points = 0;

  /** For at most `runs` runs on a grid of `size` buckets. */
  constructor(size: number, runs: number) {
    this.#runs = runs;
    this.#values = new Float64Array(size * runs);
    this.#taken = new Uint32Array(size);
    this.#held = new Uint8Array(size);
  }

  add(means: RunMeans): void {
    this.#points += means.points;
    means.each((bucket, mean) => {
      this.#held[bucket] = 1;
      if (mean !== undefined) this.#values[bucket * this.#runs + this.#taken[bucket]!++] = mean;
    });
  }

  finish(quantiles: readonly number[]): GroupColumns {
    const buckets: number[] = [];
    for (let bucket = 0; bucket < this.#held.length; bucket++) {
      if (this.#held[bucket] === 1) buckets.push(bucket);
    }
    const column = () => new Float64Array(buckets.length);
    const columns = {
      pointCount: this.#points,
      bucket: Float64Array.from(buckets),
      count: column(),
      mean: column(),
      median: column(),
      std: column(),
      stderr: column(),
      min: column(),
      max: column(),
      quantiles: quantiles.map(column),
    };
    for (const [row, bucket] of buckets.entries()) {
      const from = bucket * this.#runs;
      // Sorted, so that the order in which runs come changes no bit of the sums.
      const sorted = this.#values.subarray(from, from + this.#taken[bucket]!).sort();
      const mean = meanOf(sorted);
      const std = deviationOf(sorted, mean);
      columns.count[row] = sorted.length;
      columns.mean[row] = mean;
      columns.std[row] = std;
      columns.stderr[row] = std / Math.sqrt(sorted.length);
      columns.min[row] = quantileOf(sorted, 0);
      columns.max[row] = quantileOf(sorted, 1);
      columns.median[row] = quantileOf(sorted, 0.5);
      for (const [i, quantile] of quantiles.entries()) {
        columns.quantiles[i]![row] = quantileOf(sorted, quantile);
      }
    }
    return columns;
  }
}

function meanOf(values: Float64Array): number {
  let sum = 0;
  for (const value of values) sum += value;
  return sum / values.length;
}

/** NaN for a single value, and with an infinite one. */
function deviationOf(values: Float64Array, mean: number): number {
  let squares = 0;
  for (const value of values) squares += (value - mean) ** 2;
  return Math.sqrt(squares / (values.length - 1));
}

/** Linear between the two nearest, as numpy's default; NaN when there is none, or one of them is NaN. */
function quantileOf(sorted: Float64Array, quantile: number): number {
  const last = sorted.length - 1;
  // NaN sorts last.
  if (last < 0 || Number.isNaN(sorted[last])) return NaN;
  const place = quantile * last;
  const below = Math.floor(place);
  const share = place - below;
  const low = sorted[below]!;
  const high = sorted[Math.min(last, below + 1)]!;
  // Values without interpolation stay exact, and infinite neighbours that are equal stay infinite.
  if (share === 0 || low === high) return low;
  const way = high - low;
  // By numpy's steps, so that the last bits agree, too; they would make NaN of -Infinity and 1.
  if (!Number.isFinite(way)) return low * (1 - share) + high * share;
  return share < 0.5 ? low + way * share : high - way * (1 - share);
}
