import { exactDuration } from "../words/times.ts";
import { nextStep, roundStepFrom, sizeOf } from "./round-step.ts";
import { labelledEvenly, type Tick } from "./tick-labels.ts";

export const SECOND_US = 1e6;
export const MINUTE_US = 60 * SECOND_US;
export const HOUR_US = 60 * MINUTE_US;
export const DAY_US = 24 * HOUR_US;
const YEAR_US = 365 * DAY_US;

/** What people divide a day into. */
export const STEPS_WITHIN_DAY_US: readonly number[] = [
  ...[1, 10, 100, 1_000, 10_000, 100_000].flatMap((power) => [1, 2, 5].map((n) => n * power)),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND_US),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE_US),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR_US),
];
const STEPS_US = [...STEPS_WITHIN_DAY_US, ...[1, 2, 5, 10, 20, 50, 100].map((n) => n * DAY_US)];
/** Longer spans only show years: microseconds are not whole numbers there. */
const EXACT_US_MAX = Number.MAX_SAFE_INTEGER;
const STEP_SHARE_MIN = 1e-14;
/** A pixel of a wide chart, about. */
const SHOWN_SHARE = 1e-3;

/** Round spans of time from `minUs` to `maxUs`, as many as `countMax` permits. */
export function durationTicks(minUs: number, maxUs: number, countMax: number): Tick[] {
  if (!(maxUs > minUs) || !Number.isFinite(minUs) || !Number.isFinite(maxUs) || countMax < 1) return [];
  for (const step of stepsFrom(finestStepUs(minUs, maxUs, countMax))) {
    const first = Math.ceil(minUs / step);
    const count = Math.floor(maxUs / step) - first + 1;
    if (count > countMax) continue;
    const values = Array.from({ length: Math.max(0, count) }, (_, i) => (first + i) * step);
    // Dividing rounds.
    const inside = values.filter((value) => value >= minUs && value <= maxUs);
    if (step < YEAR_US) return inside.map((at) => ({ at, label: exactDuration(at) }));
    const years = labelledEvenly(
      inside.map((value) => value / YEAR_US),
      step / YEAR_US,
    );
    return years.map(({ label }, i) => ({ at: inside[i]!, label: inside[i] === 0 ? "0" : `${label}y` }));
  }
  return [];
}

/** No smaller step fits: there would be too many ticks, or equal labels. */
export function finestStepUs(minUs: number, maxUs: number, countMax: number): number {
  const size = Math.max(Math.abs(minUs), Math.abs(maxUs));
  // Halved first: the difference itself may overflow.
  const rough = (maxUs / 2 - minUs / 2) / ((countMax + 1) / 2);
  return Math.max(rough, size * STEP_SHARE_MIN, size > EXACT_US_MAX ? YEAR_US : 1);
}

function* stepsFrom(least: number): Generator<number> {
  for (const step of STEPS_US) if (step >= least) yield step;
  yield* yearsFrom(least / YEAR_US, YEAR_US);
}

/** 1, 2, 5, 10, … years, from so many on. */
export function* yearsFrom(least: number, unit: number): Generator<number> {
  for (let years = roundStepFrom(Math.max(1, least)); ; years = nextStep(years)) yield sizeOf(years) * unit;
}

/** One duration in words, to about a thousandth of itself. */
export function durationText(us: number): string {
  const size = Math.abs(us);
  if (!(size < EXACT_US_MAX)) return "?";
  const step = STEPS_US.findLast((one) => one <= size * SHOWN_SHARE) ?? 1;
  return exactDuration(Math.round(us / step) * step);
}
