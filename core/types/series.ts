import type { Points, Values } from "#base/codec/points.ts";

export type { Points, Values };

export type SeriesKind = "number" | "integer" | "bool" | "text";

/** Sorted by name, names unique. */
export type Labels = readonly (readonly [name: string, value: string])[];

export interface SeriesPoints {
  readonly key: string;
  readonly labels: Labels;
  readonly points: Points;
}

/** A point as it is kept in a summary. Of a text or an integer, `value` is NaN or the nearest double. */
export interface Sample {
  step: number | undefined;
  timeUs: number | undefined;
  value: number;
  text?: string;
  integer?: bigint;
}

/**
 * Of the points that are not replaced. NaN counts but min, max, sum and sum of
 * squares ignore it. First and last go by step, then by arrival; by arrival alone where there are no steps.
 */
export interface Summary {
  count: number;
  nanCount: number;
  replacedCount: number;
  first: Sample | undefined;
  last: Sample | undefined;
  min: Sample | undefined;
  max: Sample | undefined;
  sum: number;
  sumSquares: number;
}

export interface SeriesInfo {
  key: string;
  labels: Labels;
  kind: SeriesKind;
  summary: Summary;
}

/** One text per label set, equal exactly when the label sets are; "" for none. */
export function labelsText(labels: Labels): string {
  return labels.map(([name, value]) => `${name}\u0000${value}`).join("\u0001");
}
