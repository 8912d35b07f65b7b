import type { ExploredColumn } from "../columns/explored-column.ts";
import { quantileGroups, ranksOf } from "#base/ranks.ts";
import { figureText } from "../columns/brush-words.ts";

/** Runs that share a value, or lie in one part of a range. */
export interface FacetValue {
  readonly label: string;
  readonly count: number;
}

/** The values of a property, as rows, columns, colours or dashes of a grid. */
export interface Facet {
  readonly label: string;
  readonly values: readonly FacetValue[];
  /** Which value each run has; -1 for runs that are left out. */
  readonly places: Int16Array;
  /** Runs that have none of the values shown. */
  readonly leftOut: number;
  /** Values that are not shown because there are too many. */
  readonly valuesLeftOut: number;
}

const NONE = "none";

/** The values of most runs, in order; numbers of many values are cut into parts of about the same number of runs. */
export function facetOf(
  column: ExploredColumn | undefined,
  mask: Uint8Array,
  valuesMax: number,
): Facet | undefined {
  if (column === undefined) return undefined;
  const groups = column.kind === "number" ? numberGroups(column, mask, valuesMax) : categoryGroups(column);
  const counts = new Map<number, number>();
  for (let i = 0; i < mask.length; i++) {
    if (mask[i] === 1) counts.set(groups.places[i]!, (counts.get(groups.places[i]!) ?? 0) + 1);
  }
  const found = [...counts].filter(([group]) => group >= 0);
  const kept = found
    .toSorted(([a, many], [b, more]) => more - many || a - b)
    .slice(0, valuesMax)
    .map(([group]) => group)
    .toSorted((a, b) => a - b);
  const place = new Map(kept.map((group, i) => [group, i]));
  const places = Int16Array.from(groups.places, (group, i) =>
    mask[i] === 1 ? (place.get(group) ?? -1) : -1,
  );
  const values = kept.map((group) => ({ label: groups.labels[group] ?? NONE, count: counts.get(group)! }));
  const shown = values.reduce((sum, { count }) => sum + count, 0);
  const all = counts.values().reduce((sum, each) => sum + each, 0);
  return {
    label: column.label,
    values,
    places,
    leftOut: all - shown,
    valuesLeftOut: found.length - kept.length,
  };
}

interface Groups {
  /** Runs without a value are the last group. */
  readonly places: ArrayLike<number>;
  readonly labels: readonly string[];
}

function categoryGroups({ values, categories }: ExploredColumn): Groups {
  return {
    places: Array.from(values, (value) => (value === value ? value : categories.length)),
    labels: [...categories.map(({ label }) => label), NONE],
  };
}

function numberGroups({ values }: ExploredColumn, mask: Uint8Array, valuesMax: number): Groups {
  const rows: number[] = [];
  for (let i = 0; i < mask.length; i++) if (mask[i] === 1 && values[i] === values[i]) rows.push(i);
  const numbers = Float64Array.from(rows, (row) => values[row]!);
  const distinct = [...new Set(numbers)].sort((a, b) => a - b);
  const places = new Int32Array(values.length);
  if (distinct.length <= valuesMax) {
    const known = new Map(distinct.map((value, i) => [value, i]));
    places.fill(distinct.length);
    for (const row of rows) places[row] = known.get(values[row]!)!;
    return { places, labels: [...distinct.map(figureText), NONE] };
  }
  // One place is for runs without a value.
  const bins = Math.max(2, Math.min(4, valuesMax - 1));
  const groups = quantileGroups(ranksOf(numbers), bins);
  places.fill(bins);
  const ends = Array.from({ length: bins }, () => [Infinity, -Infinity] as [number, number]);
  for (const [i, row] of rows.entries()) {
    const group = groups[i]!;
    places[row] = group;
    ends[group] = [Math.min(ends[group]![0], numbers[i]!), Math.max(ends[group]![1], numbers[i]!)];
  }
  const labels = ends.map(([low, high]) =>
    low === high ? figureText(low) : `${figureText(low)} – ${figureText(high)}`,
  );
  return { places, labels: [...labels, NONE] };
}

export interface FacetCell {
  readonly row: number;
  readonly column: number;
  /** Places of runs in the table. */
  readonly runs: readonly number[];
}

/** Every cell of the grid, also those without runs, row by row. */
export function facetCells(
  rows: Facet | undefined,
  columns: Facet | undefined,
  mask: Uint8Array,
): FacetCell[] {
  const [high, wide] = [rows?.values.length ?? 1, columns?.values.length ?? 1];
  const cells: number[][] = Array.from({ length: high * wide }, () => []);
  for (let i = 0; i < mask.length; i++) {
    const row = rows === undefined ? 0 : rows.places[i]!;
    const column = columns === undefined ? 0 : columns.places[i]!;
    if (mask[i] === 1 && row >= 0 && column >= 0) cells[row * wide + column]!.push(i);
  }
  return cells.map((runs, i) => ({ row: Math.floor(i / wide), column: i % wide, runs }));
}
