import { coveringLogTicks, coveringTicks, tickLabel, VALUE_MAX } from "./ticks.ts";
import { durationTicks, timeTicks } from "./time-ticks.ts";

/** From values to the place on an axis, 0 at its beginning and 1 at its end. Immutable. */
export interface Scale {
  readonly min: number;
  readonly max: number;
  readonly ticks: readonly Tick[];
  /** 0 to 1; what lies beyond the axis is at its edge. NaN for what has no place, such as -1 on a log axis. */
  place(value: number): number;
}

export interface Tick {
  readonly value: number;
  readonly label: string;
}

/** An axis that reaches from one tick to another. */
export function valueScale(min: number, max: number, ticksWanted: number, { log = false } = {}): Scale {
  const { values, step } = log
    ? coveringLogTicks(min, max, ticksWanted)
    : coveringTicks(min, max, ticksWanted);
  const ticks = values.map((value) => ({ value, label: tickLabel(value, step) }));
  const place = log ? logPlace(values[0]!, values.at(-1)!) : linearPlace(values[0]!, values.at(-1)!);
  return { min: values[0]!, max: values.at(-1)!, ticks, place };
}

export type AxisKind = "step" | "time" | "elapsed";

/** An axis that is exactly as long as what is on it, with ticks inside. Times are in microseconds. */
export function positionScale(min: number, max: number, ticksWanted: number, kind: AxisKind): Scale {
  const inside = ({ value }: Tick) => value >= min && value <= max;
  return {
    min,
    max,
    ticks: positionTicks(min, max, ticksWanted, kind).filter(inside),
    place: linearPlace(min, max),
  };
}

function positionTicks(min: number, max: number, ticksWanted: number, kind: AxisKind): readonly Tick[] {
  if (kind === "time") return timeTicks(min, max, ticksWanted);
  if (kind === "elapsed") return durationTicks(min, max, ticksWanted);
  if (min === max) return [{ value: min, label: tickLabel(min, 1) }];
  const { values, step } = coveringTicks(min, max, ticksWanted, { whole: true });
  return values.map((value) => ({ value, label: tickLabel(value, step) }));
}

function linearPlace(min: number, max: number): (value: number) => number {
  // A single place is in the middle.
  if (!(max > min)) return (value) => (Number.isNaN(value) ? NaN : 0.5);
  // Halved, because the length of the axis itself may overflow.
  const half = max / 2 - min / 2;
  return (value) => {
    const inside = Math.min(VALUE_MAX, Math.max(-VALUE_MAX, value));
    return Math.min(1, Math.max(0, (inside / 2 - min / 2) / half));
  };
}

function logPlace(min: number, max: number): (value: number) => number {
  const from = Math.log10(min);
  const length = Math.log10(max) - from;
  return (value) => (value > 0 ? Math.min(1, Math.max(0, (Math.log10(value) - from) / length)) : NaN);
}
