import { formatDuration } from "#lang/words/times.ts";
import { coveringTicks } from "./ticks.ts";
import type { Tick } from "./scale.ts";

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What people count time in, in microseconds. */
const STEPS: readonly number[] = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 182, 364].map((n) => n * DAY),
];

/** Ticks at full local hours, days and so on. */
export function timeTicks(minUs: number, maxUs: number, wanted: number): Tick[] {
  const step = stepFor(minUs, maxUs, wanted);
  const offset = -new Date(minUs / 1000).getTimezoneOffset() * MINUTE;
  const first = Math.ceil((minUs + offset) / step) * step - offset;
  const ticks: Tick[] = [];
  let day = "";
  for (let value = first; value <= maxUs; value += step) {
    const time = new Date(value / 1000);
    const date = `${two(time.getMonth() + 1)}-${two(time.getDate())}`;
    const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
    const seconds = step < MINUTE ? `:${two(time.getSeconds())}` : "";
    const label = step >= DAY ? date : date === day ? clock + seconds : `${date} ${clock}${seconds}`;
    day = date;
    ticks.push({ value, label });
  }
  return ticks;
}

/** Ticks at round spans of time. */
export function durationTicks(minUs: number, maxUs: number, wanted: number): Tick[] {
  if (maxUs - minUs < wanted * SECOND) {
    return coveringTicks(minUs, maxUs, wanted, { whole: true }).values.map(durationTick);
  }
  const step = stepFor(minUs, maxUs, wanted);
  const ticks: Tick[] = [];
  for (let value = Math.ceil(minUs / step) * step; value <= maxUs; value += step)
    ticks.push(durationTick(value));
  return ticks;
}

function durationTick(value: number): Tick {
  const label =
    value === 0 ? "0" : value < 0 ? `-${formatDuration(-value / SECOND)}` : formatDuration(value / SECOND);
  return { value, label };
}

function stepFor(minUs: number, maxUs: number, wanted: number): number {
  const rough = (maxUs - minUs) / Math.max(1, wanted);
  const known = STEPS.find((step) => step >= rough);
  return known ?? Math.ceil(rough / (364 * DAY)) * 364 * DAY;
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
