import { floorExponent, nextStep, roundStepFrom, sizeOf, stepsUpTo, type RoundStep } from "./round-step.ts";
import { labelledEvenly, type Tick } from "./tick-labels.ts";

/** Larger numbers cannot be drawn on an axis, because sums of them overflow. */
export const VALUE_MAX = 1e300;
const STEP_EXPONENT_MIN = -300;
/** Doubles hold all numbers of 15 digits; ticks that need more could be equal. */
const DIGITS_MAX = 15;
/** A range with both signs cannot be covered by fewer. */
const COVERING_MIN = 3;

/**
 * Round numbers from `min` to `max`, evenly spaced and as many as `countMax` permits; only integers, such as steps,
 * with `whole`.
 */
export function ticksWithin(min: number, max: number, countMax: number, { whole = false } = {}): Tick[] {
  if (!(max > min) || !Number.isFinite(min) || !Number.isFinite(max) || countMax < 1) return [];
  let step = finestStep(min, max, countMax + 1, whole);
  for (;;) {
    // The first that is not below the range, by the same rounding as the last.
    const first = -stepsUpTo(-min, step);
    const last = stepsUpTo(max, step);
    if (last - first < countMax) return multiples(first, last, step);
    step = nextStep(step);
  }
}

/** Evenly spaced round numbers, the first at most `min`, the last at least `max`. `countMax` is at least 3. */
export function ticksCovering(min: number, max: number, countMax: number): Tick[] {
  const most = Math.max(COVERING_MIN, countMax);
  const [low, high] = widened(clamped(min), clamped(max));
  let step = finestStep(low, high, most - 1, false);
  for (;;) {
    const first = stepsUpTo(low, step);
    const last = -stepsUpTo(-high, step);
    if (last - first < most) return multiples(first, last, step);
    step = nextStep(step);
  }
}

/** No step below it leads to so few intervals, or to numbers that doubles can hold. */
function finestStep(min: number, max: number, intervals: number, whole: boolean): RoundStep {
  const digits = floorExponent(Math.max(Math.abs(min), Math.abs(max))) + 1;
  const exponent = Math.max(STEP_EXPONENT_MIN, digits - DIGITS_MAX, whole ? 0 : -Infinity);
  // Halved first: the difference itself may overflow.
  const rough = (max / 2 - min / 2) / (intervals / 2);
  const smallest: RoundStep = { digit: 1, exponent };
  return rough > sizeOf(smallest) ? roundStepFrom(rough) : smallest;
}

function multiples(first: number, last: number, step: RoundStep): Tick[] {
  const values = Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => sizeOf(step, first + i));
  return labelledEvenly(values, sizeOf(step));
}

function clamped(value: number): number {
  return Math.min(VALUE_MAX, Math.max(-VALUE_MAX, value));
}

/** A range that is not empty, also around a single value. */
function widened(min: number, max: number): [number, number] {
  if (max > min) return [min, max];
  const room = Math.abs(min) / 2 || 1;
  return [min - room, max + room];
}
