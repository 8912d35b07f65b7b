import { logTicksWithin } from "#lang/ticks/log-ticks.ts";
import { ticksWithin } from "#lang/ticks/number-ticks.ts";
import { linearScale, logScale, type Scale } from "#lang/ticks/scale.ts";
import { labelled, type Tick } from "#lang/ticks/tick-labels.ts";
import { cutText, visibleText } from "../../../prepare/visible-text.ts";
import type { Brush } from "./brush.ts";
import { neatRange } from "./brush.ts";
import type { ExploredColumn } from "./explored-column.ts";

export type ScaleKind = "log" | "linear";

/** A property mapped to a line from 0 to 1. Values that cannot be shown there are beside it, called none. */
export interface Axis {
  readonly column: ExploredColumn;
  readonly scale: ScaleKind | "category";
  /** Whether it could be a log axis. */
  readonly mayBeLog: boolean;
  readonly hasNone: boolean;
  readonly ticks: readonly AxisTick[];
  /** 0 to 1; NaN for a value that cannot be shown. */
  placeOf(value: number): number;
  valueAt(place: number): number;
}

export interface AxisTick {
  readonly place: number;
  readonly label: string;
}

const LABEL_LENGTH_MAX = 18;
/** Params with a larger ratio of largest to smallest value get a log axis. */
const LOG_RATIO = 20;
/** So few values are ticks themselves. */
const VALUE_TICKS_MAX = 10;

export function axisOf(column: ExploredColumn, wanted: ScaleKind | undefined, ticksMax: number): Axis {
  const hasNone = column.count < column.values.length;
  if (column.kind === "category") return categoryAxis(column, hasNone, ticksMax);
  const mayBeLog = column.count > 0 && column.low > 0;
  const isLog = mayBeLog && (wanted ?? defaultScale(column)) === "log";
  const [low, high] = column.count === 0 ? [0, 1] : [column.low, column.high];
  const scale: Scale = (isLog ? logScale : linearScale)(low, high, 0, 1);
  const ticks =
    column.count === 0 ? [] : (valueTicks(column, scale, ticksMax) ?? roundTicks(scale, ticksMax));
  // Numbers near the largest double are outside the end of a linear scale.
  const placeOf = (value: number) => Math.min(1, Math.max(0, scale.toPlace(value)));
  return {
    column,
    scale: isLog ? "log" : "linear",
    mayBeLog,
    hasNone,
    ticks: ticks.map(({ at, label }) => ({ place: placeOf(at), label })),
    placeOf,
    valueAt: scale.toValue,
  };
}

/** The values of the runs, where they are few and far enough from each other. */
function valueTicks(column: ExploredColumn, scale: Scale, ticksMax: number): Tick[] | undefined {
  if (column.distinct > VALUE_TICKS_MAX) return undefined;
  const values = [...new Set(column.values)].filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const isApart = values.every(
    (value, i) => i === 0 || scale.toPlace(value) - scale.toPlace(values[i - 1]!) >= 0.5 / ticksMax,
  );
  return isApart ? labelled(values) : undefined;
}

function roundTicks({ kind, from, to }: Scale, ticksMax: number): Tick[] {
  return (kind === "log" ? logTicksWithin : ticksWithin)(from, to, ticksMax);
}

function defaultScale({ field, low, high, distinct }: ExploredColumn): ScaleKind {
  return field.of === "param" && low > 0 && distinct > 2 && high / low >= LOG_RATIO ? "log" : "linear";
}

function categoryAxis(column: ExploredColumn, hasNone: boolean, ticksMax: number): Axis {
  const size = Math.max(1, column.categories.length);
  const every = Math.max(1, Math.ceil(size / ticksMax));
  return {
    column,
    scale: "category",
    mayBeLog: false,
    hasNone,
    ticks: column.categories.flatMap(({ label }, i) =>
      i % every === 0
        ? [{ place: (i + 0.5) / size, label: cutText(visibleText(label), LABEL_LENGTH_MAX) }]
        : [],
    ),
    placeOf: (value) => (value + 0.5) / size,
    valueAt: (place) => Math.min(size - 1, Math.max(0, Math.floor(place * size))),
  };
}

/** The filter for a part of the axis; `none` when the part includes runs without a value. */
export function brushBetween(axis: Axis, from: number, to: number, none: boolean): Brush | undefined {
  const [low, high] = from <= to ? [from, to] : [to, from];
  const also = none ? ({ none: true } as const) : {};
  if (high < 0 || low > 1) return none ? also : undefined;
  const { column } = axis;
  if (axis.scale === "category") {
    const of = column.categories
      .filter((_, i) => axis.placeOf(i) >= low && axis.placeOf(i) <= high)
      .map(({ key }) => key);
    return of.length === 0 && !none ? undefined : { ...(of.length > 0 && { of }), ...also };
  }
  return { ...neatRange(column.values, endAt(axis, low), endAt(axis, high)), ...also };
}

/** The value at a place; at the ends the exact value, which an exponent would miss by its last digit. */
function endAt({ column, placeOf, valueAt }: Axis, place: number): number {
  const isAt = (value: number) => Math.abs(placeOf(value) - place) < 1e-9;
  if (isAt(column.low)) return column.low;
  if (isAt(column.high)) return column.high;
  return valueAt(place);
}

/** The parts of the axis that a brush covers, as places. */
export function partsOf(axis: Axis, { from, to, of }: Brush): [number, number][] {
  const { column } = axis;
  const parts: [number, number][] = [];
  if (axis.scale !== "category") {
    // Values that a log axis cannot show are below it.
    const endOf = (value: number) => axis.placeOf(value) || 0;
    if (from !== undefined || to !== undefined) {
      parts.push([from === undefined ? 0 : endOf(from), to === undefined ? 1 : endOf(to)]);
    }
    for (const key of of ?? []) {
      const value = Number(key);
      if (value < column.low || value > column.high) continue;
      const place = axis.placeOf(value);
      if (!Number.isNaN(place)) parts.push([place, place]);
    }
    return parts;
  }
  const half = 0.5 / Math.max(1, column.categories.length);
  const wanted = new Set(of);
  for (const [i, { key }] of column.categories.entries()) {
    if (!wanted.has(key)) continue;
    const [low, high] = [axis.placeOf(i) - half, axis.placeOf(i) + half];
    const last = parts.at(-1);
    if (last !== undefined && Math.abs(last[1] - low) < 1e-9) last[1] = high;
    else parts.push([low, high]);
  }
  return parts;
}

/** The place of every run; NaN for none. */
export function placesOf({ column, placeOf }: Axis): Float32Array {
  return Float32Array.from(column.values, placeOf);
}
