import type { Frame } from "./paint/frame.ts";
import { nearestIndex } from "./lines/line.ts";
import type { Drawn } from "./paint/paint.ts";

/** The value of a line at the crosshair. */
export interface Reading {
  readonly drawn: Drawn;
  readonly index: number;
  readonly x: number;
  /** As drawn: smoothed where smoothing is on. */
  readonly value: number;
  /** As logged, or the mean of the bucket. */
  readonly raw: number;
  readonly text?: string;
}

export type Order = "falling" | "rising";

/** One reading per line that reaches that x, sorted by value; other than numbers come last. */
export function readingsAt(drawn: readonly Drawn[], x: number, slackX: number, order: Order): Reading[] {
  const readings: Reading[] = [];
  for (const each of drawn) {
    const { line, calm } = each;
    const index = nearestIndex(line.x, x);
    if (index < 0) continue;
    const at = line.x[index]!;
    // A line that ended long before has no reading here. A line of texts keeps its last one.
    const inside = x >= line.x[0]! - slackX && x <= line.x[line.x.length - 1]! + slackX;
    if (!inside && line.words === undefined) continue;
    const raw = line.y[index]!;
    const text = line.words?.[raw];
    readings.push({
      drawn: each,
      index,
      x: at,
      value: calm?.[index] ?? raw,
      raw,
      ...(text !== undefined && { text }),
    });
  }
  const sign = order === "falling" ? -1 : 1;
  return readings.sort((a, b) => {
    const aNone = Number.isNaN(a.value);
    const bNone = Number.isNaN(b.value);
    if (aNone || bNone) return Number(aNone) - Number(bNone);
    return a.value === b.value ? 0 : sign * (a.value < b.value ? -1 : 1);
  });
}

/** The reading whose line is nearest to a height on the screen, if it is within reach. */
export function nearestReading(
  readings: readonly Reading[],
  frame: Frame,
  x: number,
  pixelY: number,
  reachPx: number,
): Reading | undefined {
  let best: Reading | undefined;
  let bestPx = reachPx;
  for (const reading of readings) {
    const distance = Math.abs(heightAt(reading, frame, x) - pixelY);
    if (distance <= bestPx) {
      best = reading;
      bestPx = distance;
    }
  }
  return best;
}

/** The height of the drawn line: interpolated between two points. */
function heightAt({ drawn: { line, calm }, index }: Reading, { y }: Frame, x: number): number {
  const values = calm ?? line.y;
  const here = y.toPlace(values[index]!);
  if (line.words !== undefined || line.x[index] === x) return here;
  const other = x > line.x[index]! ? index + 1 : index - 1;
  const there = other >= 0 && other < values.length ? y.toPlace(values[other]!) : Number.NaN;
  const gap = line.x[other]! - line.x[index]!;
  if (Number.isNaN(there) || gap === 0) return here;
  return here + ((there - here) * (x - line.x[index]!)) / gap;
}
