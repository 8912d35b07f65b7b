const SECOND = 1e6;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS_US = [
  ...[1, 2, 5].flatMap((n) => [n, 10 * n, 100 * n, 1e3 * n, 1e4 * n, 1e5 * n]),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => n * DAY),
].toSorted((a, b) => a - b);

/** Round times in microseconds, at most so many. `offsetUs` moves days to where the reader lives. */
export function timeTicks(from: number, to: number, countMax: number, offsetUs = 0): number[] {
  if (!(to > from) || countMax < 1) return [];
  for (const step of STEPS_US) {
    const first = Math.ceil((from + offsetUs) / step);
    const last = Math.floor((to + offsetUs) / step);
    if (last - first + 1 <= countMax)
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step - offsetUs);
  }
  return [];
}

/** How long something took, to the precision of the distance between ticks: 0, 30 s, 2 h, 2.5 d. */
export function durationLabel(us: number): string {
  const size = Math.abs(us);
  if (us === 0) return "0";
  if (size < 1_000) return `${round(us)} µs`;
  if (size < SECOND) return `${round(us / 1_000)} ms`;
  if (size < 2 * MINUTE) return `${round(us / SECOND)} s`;
  if (size < 2 * HOUR) return `${round(us / MINUTE)} min`;
  if (size < 2 * DAY) return `${round(us / HOUR)} h`;
  return `${round(us / DAY)} d`;
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}

/** Labels of ticks at wall times: days where ticks are days apart, seconds where they are that close. */
export function clockLabels(ticks: readonly number[], spanUs: number): string[] {
  const step = ticks.length > 1 ? ticks[1]! - ticks[0]! : spanUs;
  return ticks.map((tick) => clockLabel(tick, step));
}

export function clockLabel(timeUs: number, stepUs: number): string {
  const time = new Date(timeUs / 1_000);
  if (Number.isNaN(time.getTime())) return "";
  const two = (part: number): string => String(part).padStart(2, "0");
  const day = `${time.toLocaleString("en", { month: "short" })} ${time.getDate()}`;
  if (stepUs >= DAY) return day;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  if (stepUs < MINUTE)
    return `${clock}:${two(time.getSeconds())}${stepUs < SECOND ? `.${String(time.getMilliseconds()).padStart(3, "0")}` : ""}`;
  return clock === "00:00" ? day : clock;
}
