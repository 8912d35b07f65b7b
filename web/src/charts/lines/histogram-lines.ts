import { formatNumber } from "#lang/words/numbers.ts";
import type { Line } from "./line.ts";

/** Counts between edges at one step: one edge more than counts. */
export interface StepHistogram {
  readonly step: number;
  readonly edges: readonly number[];
  readonly counts: readonly number[];
}

const BINS_MAX = 48;

/**
 * Histograms of many steps as rows of a heat map, the highest values on top. Steps may have different edges: all are
 * mapped to one grid, and a bin that covers several cells is distributed among them, so that no count is lost.
 */
export function histogramLines(histograms: readonly StepHistogram[]): Line[] {
  const rows = histograms.toSorted((a, b) => a.step - b.step);
  const low = Math.min(...rows.map(({ edges }) => edges[0]!));
  const high = Math.max(...rows.map(({ edges }) => edges.at(-1)!));
  if (!(low < high)) return [];
  const bins = Math.min(BINS_MAX, Math.max(...rows.map(({ counts }) => counts.length)));
  const width = (high - low) / bins;
  const laid = rows.map((row) => onGrid(row, low, width, bins));
  const x = Float64Array.from(rows, ({ step }) => step);
  return Array.from({ length: bins }, (_, fromTop): Line => {
    const bin = bins - 1 - fromTop;
    const from = low + bin * width;
    return {
      id: String(bin),
      runId: String(bin),
      name: formatNumber(from),
      colour: "currentColor",
      dash: [],
      x,
      y: Float64Array.from(laid, (counts) => counts[bin]!),
      exact: true,
      pointCount: rows.length,
      unplacedCount: 0,
    };
  });
}

function onGrid({ edges, counts }: StepHistogram, low: number, width: number, bins: number): Float64Array {
  const out = new Float64Array(bins);
  for (let i = 0; i < counts.length; i++) {
    const [from, to] = [(edges[i]! - low) / width, (edges[i + 1]! - low) / width];
    if (!(to > from)) {
      out[Math.min(bins - 1, Math.max(0, Math.floor(from)))]! += counts[i]!;
      continue;
    }
    for (let bin = Math.max(0, Math.floor(from)); bin < bins && bin < to; bin++) {
      const overlap = Math.min(to, bin + 1) - Math.max(from, bin);
      out[bin]! += (counts[i]! * overlap) / (to - from);
    }
  }
  return out;
}
