import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { startUs } from "#sdk/run-facts.ts";
import { colourAt, dashAt, PALETTE_SIZE, rampColour } from "../../../charts/paint/palette.ts";
import type { ChartRun } from "../../../panels/charts/lines/chart-lines.ts";
import { defaultAxes, fieldFor } from "../default-fields.ts";
import type { ExploreViewProps } from "../explore-view.ts";
import { facetCells, facetOf, type Facet, type FacetCell } from "./facets.ts";

const ROWS_MAX = 6;
const COLUMNS_MAX = 6;
const HUES_MAX = 8;
const DASHES_MAX = 4;
/** Curves of the whole grid. */
const CURVES_MAX = 240;
const CURVES_PER_CELL = [3, 16] as const;

export interface FacetGrid {
  readonly rows: Facet | undefined;
  readonly columns: Facet | undefined;
  readonly hue: Facet | undefined;
  readonly dash: Facet | undefined;
  readonly cells: readonly FacetCell[];
}

/** The field of each part of the grid: from the address, or params of a few values. */
export function facetFields({ table, listed, known, search, objective }: ExploreViewProps) {
  const few = defaultAxes(listed, objective, known).filter((text) => {
    const column = table.column(text);
    return (
      text.startsWith("params.") &&
      column !== undefined &&
      column.distinct >= 2 &&
      column.distinct <= COLUMNS_MAX
    );
  });
  return {
    rows: fieldFor(search, "rows", undefined),
    cols: fieldFor(search, "cols", few[0]),
    hue: fieldFor(search, "hue", few[1]),
    dash: fieldFor(search, "dash", undefined),
  };
}

export function facetGrid(
  table: ExploreViewProps["table"],
  fields: ReturnType<typeof facetFields>,
  mask: Uint8Array,
): FacetGrid {
  const facet = (text: string | undefined, max: number) =>
    facetOf(text === undefined ? undefined : table.column(text), mask, max);
  const rows = facet(fields.rows, ROWS_MAX);
  const columns = facet(fields.cols, COLUMNS_MAX);
  return {
    rows,
    columns,
    hue: facet(fields.hue, HUES_MAX),
    dash: facet(fields.dash, DASHES_MAX),
    cells: facetCells(rows, columns, mask),
  };
}

/** How many curves a cell may show. */
export function curvesPerCell(cellCount: number): number {
  const [least, most] = CURVES_PER_CELL;
  return Math.max(least, Math.min(most, Math.floor(CURVES_MAX / Math.max(1, cellCount))));
}

/** So many of them, from the first to the last, evenly spaced. */
export function spreadOver<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  if (count === 1) return [all[0]!];
  return Array.from({ length: count }, (_, i) => all[Math.round((i * (all.length - 1)) / (count - 1))]!);
}

/** Which colour a run has in the grid: that of its hue, or of how good it is. */
export function hueColour(
  { hue }: FacetGrid,
  row: number,
  share: number,
  dark: boolean,
  plain: string,
): string {
  if (hue !== undefined) {
    const place = hue.places[row]!;
    return place < 0 ? plain : colourAt(place, dark);
  }
  return Number.isNaN(share) ? plain : rampColour(share, dark);
}

export function chartRun(grid: FacetGrid, run: Run, row: number, colour: string): ChartRun {
  const place = grid.dash?.places[row] ?? 0;
  return {
    id: run.id,
    name: run.name || run.id,
    colour,
    dash: dashAt(Math.max(0, place) * PALETTE_SIZE),
    startUs: startUs(run),
  };
}

/** What the grid leaves out, in sentences. */
export function leftOutOf(grid: FacetGrid): string[] {
  return [grid.rows, grid.columns, grid.hue, grid.dash].flatMap((facet) =>
    facet === undefined || facet.valuesLeftOut === 0
      ? []
      : [`${facet.valuesLeftOut} more values of ${facet.label} (${facet.leftOut} runs) are left out.`],
  );
}
