import {
  DAY_US,
  finestStepUs,
  HOUR_US,
  MINUTE_US,
  SECOND_US,
  STEPS_WITHIN_DAY_US,
  yearsFrom,
} from "./duration-ticks.ts";
import type { Tick } from "./tick-labels.ts";

/** What people divide years into. */
const DAYS = [1, 2, 7, 14];
const MONTHS = [1, 3, 6];
/** No month is longer. */
const MONTH_US = 31 * DAY_US;
const TWELVE_MONTHS_US = 12 * MONTH_US;
/** 1970 began on a Thursday, weeks begin on Monday. */
const FIRST_MONDAY_US = 4 * DAY_US;
/** Dates end here, in both directions. */
const TIME_US_MAX = 8.64e21;
const MONTH_NAMES = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

export interface ClockOptions {
  /** The first label has its day, too: where nothing else says which one it is. */
  dayFirst?: boolean;
}

/**
 * Round times of the local calendar from `minUs` to `maxUs`, in microseconds, as many as `countMax` permits. Labels are no longer than
 * the ticks need: at midnight the day, otherwise the time of it.
 */
export function clockTicks(
  minUs: number,
  maxUs: number,
  countMax: number,
  { dayFirst = false }: ClockOptions = {},
): Tick[] {
  const [min, max] = [Math.max(-TIME_US_MAX, minUs), Math.min(TIME_US_MAX, maxUs)];
  if (!(max > min) || countMax < 1) return [];
  for (const step of stepsFrom(finestStepUs(min, max, countMax))) {
    const values = timesEvery(step, min, max).filter(
      (value, i, all) => value >= min && value <= max && (i === 0 || value > all[i - 1]!),
    );
    if (values.length <= countMax)
      return values.map((at, i) => ({ at, label: label(at, step, dayFirst && i === 0) }));
  }
  return [];
}

/** Below a month as long as they are, then 31 days for each month. */
function* stepsFrom(least: number): Generator<number> {
  const some = [...STEPS_WITHIN_DAY_US, ...DAYS.map((n) => n * DAY_US), ...MONTHS.map((n) => n * MONTH_US)];
  for (const step of some) if (step >= least) yield step;
  yield* yearsFrom(least / TWELVE_MONTHS_US, TWELVE_MONTHS_US);
}

/** May begin and end with one outside the range. */
function timesEvery(step: number, min: number, max: number): number[] {
  if (step >= MONTH_US) return monthsEvery(Math.round(step / MONTH_US), min, max);
  // Steps within an hour do not depend on clock changes; longer steps follow them.
  const offset = zoneOffset(min);
  if (step <= HOUR_US) return multiples(step, min + offset, max + offset).map((value) => value - offset);
  const origin = step % (7 * DAY_US) === 0 ? FIRST_MONDAY_US : 0;
  return multiples(step, min + offset - origin, max + zoneOffset(max) - origin).map((value) =>
    fromLocal(value + origin),
  );
}

function monthsEvery(months: number, min: number, max: number): number[] {
  const monthOf = (us: number) => {
    const time = new Date(Math.floor(us / 1_000));
    return time.getFullYear() * 12 + time.getMonth();
  };
  return multiples(months, monthOf(min), monthOf(max)).map((month) => {
    const time = new Date(2_000, 0);
    // Not the constructor: it maps the years 0 to 99 to the 20th century.
    time.setFullYear(Math.floor(month / 12), month - Math.floor(month / 12) * 12);
    return time.getTime() * 1_000;
  });
}

function multiples(step: number, min: number, max: number): number[] {
  const first = Math.ceil(min / step);
  return Array.from(
    { length: Math.max(0, Math.floor(max / step) - first + 1) },
    (_, i) => (first + i) * step,
  );
}

/** How far local time is ahead of UTC. */
function zoneOffset(us: number): number {
  return -new Date(Math.floor(us / 1_000)).getTimezoneOffset() * MINUTE_US || 0;
}

/** The time at which a local clock shows this. The second pass is for times just after a clock change. */
function fromLocal(local: number): number {
  return local - zoneOffset(local - zoneOffset(local));
}

function label(us: number, step: number, withDay: boolean): string {
  const time = new Date(Math.floor(us / 1_000));
  const year = time.getFullYear();
  const month = MONTH_NAMES[time.getMonth()]!;
  if (step >= TWELVE_MONTHS_US) return String(year);
  if (step >= MONTH_US) return `${month} ${year}`;
  const day = `${month} ${time.getDate()}`;
  const clock = clockOf(time, us, step);
  if (step >= DAY_US || /^[0:.]+$/.test(clock)) return day;
  return withDay ? `${day} ${clock}` : clock;
}

function clockOf(time: Date, us: number, step: number): string {
  const minutes = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (step >= MINUTE_US) return minutes;
  const seconds = `${minutes}:${two(time.getSeconds())}`;
  if (step >= SECOND_US) return seconds;
  const fraction = String(us - Math.floor(us / SECOND_US) * SECOND_US).padStart(6, "0");
  return `${seconds}.${step >= 1_000 ? fraction.slice(0, 3) : fraction}`;
}

function two(part: number): string {
  return String(part).padStart(2, "0");
}
