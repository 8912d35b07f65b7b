import type { Run } from "#proto/cairn/v1/run_pb.ts";
import type { KnownKeys } from "../../data/runs/known-keys.ts";
import { axisOf } from "./columns/axis.ts";
import type { RunFields } from "./answers/queries.ts";
import type { Brush, Brushes } from "./columns/brush.ts";
import type { BrushQuery } from "./columns/brush-query.ts";
import type { ExploredColumn } from "./columns/explored-column.ts";
import type { ExploredTable } from "./columns/explored-table.ts";
import type { Objective } from "./objective/objective.ts";
import type { ExplorePatch, ExploreSearch } from "./search.ts";

/** The properties of every view of the page. */
export interface ExploreViewProps {
  readonly namespace: string;
  /** The runs that were read, which are drawn. */
  readonly table: ExploredTable;
  /** Of all runs that the query selects. */
  readonly listed: RunFields;
  readonly known: KnownKeys | undefined;
  readonly search: ExploreSearch;
  readonly objective: Objective | undefined;
  /** Its values, where there are any. */
  readonly judged: ExploredColumn | undefined;
  readonly brushes: Brushes;
  /** Which runs remain: 1 for each that does. */
  readonly mask: Uint8Array;
  readonly remaining: number;
  /** The query that selects them on the server; without the brush that is being drawn. */
  readonly asked: BrushQuery;
  readonly dark: boolean;
  onSearch(patch: ExplorePatch, how?: "push" | "replace"): void;
  /** With `isDraft` while a brush is being drawn: it is shown, and not yet in the address. */
  onBrush(changes: Readonly<Record<string, Brush | undefined>>, isDraft?: boolean): void;
  onOpen(run: Run): void;
}

/** Colours reach from one to the other. */
export interface ColourEnds {
  readonly low: number;
  readonly high: number;
}

/** The most outliers at either end that are ignored for the colours. */
const OUTLYING_SHARE = 0.05;
/** They are ignored if the others would otherwise have a smaller share of the colours. */
const SQUEEZED_SHARE = 0.5;
const OUTLYING_COUNT_MIN = 12;

/** The lowest and the highest value, without outliers that would leave all others in one colour. */
export function colourEnds(column: ExploredColumn): ColourEnds {
  const { values, count, low, high } = column;
  if (column.kind !== "number" || count < OUTLYING_COUNT_MIN) return { low, high };
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted();
  const out = Math.max(1, Math.floor(OUTLYING_SHARE * sorted.length));
  const [from, to] = [sorted[out]!, sorted[sorted.length - 1 - out]!];
  const { placeOf } = axisOf(column, undefined, 2);
  return to > from && placeOf(to) - placeOf(from) < SQUEEZED_SHARE ? { low: from, high: to } : { low, high };
}

/**
 * From 0 for the worst to 1 for the best among all runs, along the axis of the column; NaN without a value. Outliers
 * have the colour of the nearest end.
 */
export function sharesOf(
  judged: ExploredColumn | undefined,
  goal: "min" | "max",
  count: number,
): Float64Array {
  if (judged === undefined || judged.kind !== "number") return new Float64Array(count).fill(Number.NaN);
  // The axis of a single value has it in the middle; as a colour it is the best there is.
  if (judged.distinct === 1) return judged.values.map((value) => (Number.isNaN(value) ? value : 1));
  const { scale } = axisOf(judged, undefined, 2);
  const inner = { ...judged, ...colourEnds(judged) };
  const { placeOf } = axisOf(inner, scale === "log" ? "log" : "linear", 2);
  return judged.values.map((value) => (goal === "min" ? 1 - placeOf(value) : placeOf(value)));
}
