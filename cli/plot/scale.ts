import { clockTicks } from "#lang/ticks/clock-ticks.ts";
import { durationText, durationTicks } from "#lang/ticks/duration-ticks.ts";
import { logTicksCovering } from "#lang/ticks/log-ticks.ts";
import { ticksCovering, ticksWithin } from "#lang/ticks/number-ticks.ts";
import { linearScale, logScale } from "#lang/ticks/scale.ts";
import type { Tick } from "#lang/ticks/tick-labels.ts";
import { formatTime } from "#lang/words/times.ts";

/** From values to the place on an axis, 0 at its beginning and 1 at its end. Immutable. */
export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly Tick[];
  /**
   * 0 to 1; values outside the axis are at its edge. NaN for a value that the axis cannot show, such as -1 on a log
   * axis.
   */
  place(value: number): number;
}

/** An axis that reaches from one tick to another. */
export function valueScale(min: number, max: number, ticksMax: number, { log = false } = {}): Scale {
  const ticks = (log ? logTicksCovering : ticksCovering)(min, max, ticksMax);
  const [from, to] = [ticks[0]!.at, ticks.at(-1)!.at];
  const { toPlace } = (log ? logScale : linearScale)(from, to, 0, 1);
  return { min: from, max: to, ticks, place: (value) => atMostAtEdge(toPlace(value)) };
}

export type AxisKind = "step" | "time" | "elapsed";

/** An axis that is exactly as long as what is on it, with ticks inside. Times are in microseconds. */
export function positionScale(min: number, max: number, ticksMax: number, kind: AxisKind): Scale {
  const { toPlace } = linearScale(min, max, 0, 1);
  const ticks =
    min === max ? [{ at: min, label: positionText(min, kind) }] : positionTicks(min, max, ticksMax, kind);
  return { min, max, ticks, place: (value) => atMostAtEdge(toPlace(value)) };
}

function positionTicks(min: number, max: number, ticksMax: number, kind: AxisKind): readonly Tick[] {
  if (kind === "time") return clockTicks(min, max, ticksMax, { dayFirst: true });
  if (kind === "elapsed") return durationTicks(min, max, ticksMax);
  return ticksWithin(min, max, ticksMax, { whole: true });
}

function positionText(at: number, kind: AxisKind): string {
  return kind === "time" ? formatTime(at) : kind === "elapsed" ? durationText(at) : String(at);
}

function atMostAtEdge(place: number): number {
  return Math.min(1, Math.max(0, place));
}
