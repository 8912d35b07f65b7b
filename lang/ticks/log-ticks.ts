import { VALUE_MAX, ticksCovering, ticksWithin } from "./number-ticks.ts";
import { decimal, floorExponent } from "./round-step.ts";
import { labelled, type Tick } from "./tick-labels.ts";

const VALUE_MIN = 1e-300;
/** Where the ends differ by a smaller factor, evenly spaced ticks are more useful than powers. */
const NARROW = 10;
/** How many powers of ten lie between two ticks. All divide 300: what covers the allowed range is in it, too. */
const DECADES = [1, 2, 3, 5, 10, 20, 30, 50, 100, 300];
const COVERING_MIN = 3;

/** Round numbers from `min` to `max`, which are above 0, for a logarithmic axis. */
export function logTicksWithin(min: number, max: number, countMax: number): Tick[] {
  if (max / min >= NARROW && max < Infinity) {
    const inside = (values: number[]) => values.filter((value) => value >= min && value <= max);
    const values = finest(min, max, countMax, inside);
    if (values.length > 1) return labelled(values);
  }
  return ticksWithin(min, max, countMax);
}

/** Round numbers for a logarithmic axis, the first at most `min`, the last at least `max`. `countMax` is at least 3. */
export function logTicksCovering(min: number, max: number, countMax: number): Tick[] {
  const low = Math.min(VALUE_MAX, Math.max(VALUE_MIN, min));
  const high = Math.min(VALUE_MAX, Math.max(low, max));
  if (high / low < NARROW) {
    const ticks = ticksCovering(low, high, countMax);
    if (ticks[0]!.at > 0) return ticks;
  }
  const covering = (values: number[]) => {
    const from = values.findLastIndex((value) => value <= low);
    const to = values.findIndex((value, i) => value >= high && i > from);
    return values.slice(from, to + 1);
  };
  return labelled(finest(low, high, Math.max(COVERING_MIN, countMax), covering));
}

/** The densest of 1, 2, 5, 10, … and the powers of ten that `choose` makes at most so many of. */
function finest(
  low: number,
  high: number,
  countMax: number,
  choose: (values: number[]) => number[],
): number[] {
  // One more at each end, so that the range is always covered.
  const bottom = floorExponent(low) - 1;
  const top = floorExponent(high) + 2;
  if (top - bottom <= countMax + 3) {
    const exponents = Array.from({ length: top - bottom + 1 }, (_, i) => bottom + i);
    const values = choose(
      exponents.flatMap((exponent) => [1, 2, 5].map((digit) => decimal(digit, exponent))),
    );
    if (values.length <= countMax) return values;
  }
  for (const every of DECADES) {
    const values = choose(powers(bottom, top, every));
    if (values.length <= countMax) return values;
  }
  return [];
}

function powers(bottom: number, top: number, every: number): number[] {
  const first = Math.floor(bottom / every);
  const last = Math.ceil(top / every);
  return Array.from({ length: last - first + 1 }, (_, i) => decimal(1, (first + i) * every));
}
