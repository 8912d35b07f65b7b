import { labelsText, type Points } from "../types/series.ts";
import type { AddedPoints } from "./event.ts";
import type { EnvelopePoints } from "../ports/journal.ts";
import type { KeyFilter } from "./key-filter.ts";

/** The points of selected keys, series by series, each in the order it came. Nothing is copied. */
export function addedPoints(envelopes: readonly EnvelopePoints[], filter: KeyFilter): AddedPoints[] {
  const added = new Map<string, AddedPoints>();
  for (const { series } of envelopes) {
    for (const { key, labels, points } of series) {
      if (points.count === 0 || !filter.selects(key)) continue;
      const name = `${key}\u0002${labelsText(labels)}\u0002${columnsOf(points)}`;
      const known = added.get(name);
      if (known === undefined) added.set(name, { key, labels, pieces: [points] });
      else known.pieces.push(points);
    }
  }
  return [...added.values()];
}

/** Pieces with other columns do not fit together. */
function columnsOf({ steps, times, nanos, values }: Points): string {
  return `${steps === undefined}${times === undefined}${nanos === undefined}${values.kind}`;
}
