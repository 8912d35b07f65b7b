import { ranksOf } from "#base/ranks.ts";

/**
 * How strongly two properties are associated, by ranks, so that neither outliers nor log scales matter. All measures are
 * on the scale of a correlation: 0 is nothing, 1 is everything.
 */

/** The correlation of two lists of ranks; NaN when one of them does not vary. */
export function rankCorrelation(a: Float64Array, b: Float64Array): number {
  const n = a.length;
  let sumA = 0;
  let sumB = 0;
  for (let i = 0; i < n; i++) {
    sumA += a[i]!;
    sumB += b[i]!;
  }
  // Sums of ranks are exact, so constant ranks are exactly their mean.
  const meanA = sumA / n;
  const meanB = sumB / n;
  let product = 0;
  let squareA = 0;
  let squareB = 0;
  for (let i = 0; i < n; i++) {
    const offA = a[i]! - meanA;
    const offB = b[i]! - meanB;
    product += offA * offB;
    squareA += offA * offA;
    squareB += offB * offB;
  }
  const size = Math.sqrt(squareA) * Math.sqrt(squareB);
  return size > 0 ? Math.max(-1, Math.min(1, product / size)) : Number.NaN;
}

export function spearman(a: Float64Array, b: Float64Array): number {
  return rankCorrelation(ranksOf(a), ranksOf(b));
}

export interface GroupEffect {
  /** The share of the variance of the ranks that lies between groups. */
  readonly etaSquared: number;
  /** The same, corrected for chance: may be below 0. */
  readonly epsilonSquared: number;
  readonly groups: number;
}

/**
 * `groups` holds small whole numbers, and `ranks` the values to explain. Undefined when there is one group only, or as many as
 * values, or nothing varies.
 */
export function groupEffect(groups: ArrayLike<number>, ranks: Float64Array): GroupEffect | undefined {
  const n = ranks.length;
  const mean = (n + 1) / 2;
  const sums = new Map<number, { count: number; sum: number }>();
  let total = 0;
  for (let i = 0; i < n; i++) {
    const off = ranks[i]! - mean;
    total += off * off;
    const known = sums.get(groups[i]!);
    if (known === undefined) sums.set(groups[i]!, { count: 1, sum: off });
    else {
      known.count++;
      known.sum += off;
    }
  }
  const k = sums.size;
  if (k < 2 || k >= n || total === 0) return undefined;
  let between = 0;
  for (const { count, sum } of sums.values()) between += (sum * sum) / count;
  const within = Math.max(0, total - between) / (n - k);
  return {
    etaSquared: Math.min(1, between / total),
    epsilonSquared: (between - (k - 1) * within) / total,
    groups: k,
  };
}

/** Cramér's V with the correction for small samples (Bergsma 2013); NaN when one of them does not vary. */
export function cramersV(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = a.length;
  const rows = new Map<number, number>();
  const columns = new Map<number, number>();
  const cells = new Map<number, Map<number, number>>();
  for (let i = 0; i < n; i++) {
    const [r, c] = [a[i]!, b[i]!];
    rows.set(r, (rows.get(r) ?? 0) + 1);
    columns.set(c, (columns.get(c) ?? 0) + 1);
    let row = cells.get(r);
    if (row === undefined) cells.set(r, (row = new Map()));
    row.set(c, (row.get(c) ?? 0) + 1);
  }
  const [r, c] = [rows.size, columns.size];
  if (r < 2 || c < 2) return Number.NaN;
  let share = -1;
  for (const [at, row] of cells) {
    for (const [to, count] of row) share += count ** 2 / (rows.get(at)! * columns.get(to)!);
  }
  const phi = Math.max(0, share - ((r - 1) * (c - 1)) / (n - 1));
  const fair = Math.min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1;
  return fair > 0 ? Math.min(1, Math.sqrt(phi / fair)) : 0;
}

/** The bound that 19 of 20 independent samples stay below, for a rank correlation of n pairs. */
export function chanceOfRank(n: number): number {
  return n < 4 ? 1 : Math.min(1, 1.96 / Math.sqrt(n - 1));
}

/** The same for eta² of ranks: (n - 1) eta² is nearly chi-squared (Kruskal and Wallis), whose quantile Wilson and Hilferty give. */
export function chanceOfGroups(n: number, groups: number): number {
  const k = groups - 1;
  const part = 2 / (9 * k);
  return Math.min(1, (k * (1 - part + 1.645 * Math.sqrt(part)) ** 3) / (n - 1));
}
