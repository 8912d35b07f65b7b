/** Runs that go from about the same place on one axis to about the same on the next, drawn as one line. */
export interface Bundle {
  /** Mean places on both axes; NaN where they are none. */
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** The mean share of the runs that have one, for their colour; NaN when none has. */
  readonly share: number;
}

/**
 * Bundles between two axes, those of most runs last, so that they are drawn on top. Work is one pass over the runs, and there are
 * at most (bins + 1)² bundles, however many runs there are.
 */
export function bundlesOf(
  from: Float32Array,
  to: Float32Array,
  shares: Float64Array,
  mask: Uint8Array,
  bins: number,
): Bundle[] {
  const width = bins + 1;
  const counts = new Uint32Array(width * width);
  const sums = new Float64Array(width * width * 4);
  const used: number[] = [];
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 0) continue;
    const a = from[i]!;
    const b = to[i]!;
    const cell = binOf(a, bins) * width + binOf(b, bins);
    if (counts[cell]!++ === 0) used.push(cell);
    sums[cell * 4]! += a;
    sums[cell * 4 + 1]! += b;
    const share = shares[i]!;
    if (share === share) {
      sums[cell * 4 + 2]! += share;
      sums[cell * 4 + 3]! += 1;
    }
  }
  return used
    .map((cell) => {
      const count = counts[cell]!;
      return {
        count,
        from: sums[cell * 4]! / count,
        to: sums[cell * 4 + 1]! / count,
        share: sums[cell * 4 + 2]! / sums[cell * 4 + 3]!,
      };
    })
    .sort((a, b) => a.count - b.count);
}

/** The last bin is for runs without a value. */
function binOf(place: number, bins: number): number {
  return place === place ? Math.min(bins - 1, Math.max(0, Math.floor(place * bins))) : bins;
}
