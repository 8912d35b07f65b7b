/** Times and spans as people read them, the same in terminal and pages. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** The two largest units, such as "3h 12m", "42s", "2d 4h"; below ten seconds with tenths. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "?";
  if (seconds < 1) return `${Math.round(seconds * 1000)}ms`;
  if (seconds < 9.95) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  if (whole < MINUTE) return `${whole}s`;
  if (whole < HOUR) return two(whole, MINUTE, "m", 1, "s");
  if (whole < DAY) return two(whole, HOUR, "h", MINUTE, "m");
  if (whole < YEAR) return two(whole, DAY, "d", HOUR, "h");
  return two(whole, YEAR, "y", DAY, "d");
}

const LONGER_UNITS = [
  [YEAR, "y"],
  [DAY, "d"],
  [HOUR, "h"],
  [MINUTE, "m"],
] as const;

/** Whole microseconds with all units they need, such as "1d 2h 30m", "1m 0.5s", "20µs", "-5s", or "0". */
export function exactDuration(us: number): string {
  if (us === 0) return "0";
  if (us < 0) return `-${exactDuration(-us)}`;
  if (us < 1e3) return `${us}µs`;
  if (us < 1e6) return `${us / 1e3}ms`;
  const parts: string[] = [];
  let rest = us;
  for (const [seconds, name] of LONGER_UNITS) {
    const count = Math.floor(rest / (seconds * 1e6));
    if (count > 0) parts.push(`${count}${name}`);
    rest -= count * seconds * 1e6;
  }
  if (rest > 0) parts.push(`${rest / 1e6}s`);
  return parts.join(" ");
}

/** One unit, such as "5m", "3h", "2y": where there is little room. */
export function formatAge(seconds: number): string {
  if (seconds < MINUTE) return `${Math.max(0, Math.floor(seconds))}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < YEAR) return `${Math.floor(seconds / DAY)}d`;
  return `${Math.floor(seconds / YEAR)}y`;
}

/** Time in microseconds, as "5m ago", "in 12d", or "never" for 0, which in the API means no time. */
export function formatAgo(timeUs: bigint | number, nowMs: number = Date.now()): string {
  const us = Number(timeUs);
  if (us === 0) return "never";
  const seconds = (nowMs - us / 1000) / 1000;
  const size = Math.abs(seconds);
  // Clocks differ a little; "in 0s" would be confusing.
  if (size < 2) return "now";
  // Three days from now, asked a moment later, are still three.
  return seconds > 0 ? `${formatAge(size)} ago` : `in ${formatAge(size + size / 100)}`;
}

/** Local time to the second, as "2026-11-15 14:03:22"; empty for 0. */
export function formatTime(timeUs: bigint | number): string {
  const us = Number(timeUs);
  if (us === 0) return "";
  const time = new Date(us / 1000);
  const part = (value: number) => String(value).padStart(2, "0");
  const day = `${time.getFullYear()}-${part(time.getMonth() + 1)}-${part(time.getDate())}`;
  return `${day} ${part(time.getHours())}:${part(time.getMinutes())}:${part(time.getSeconds())}`;
}

/** For programs: ISO 8601 in UTC; undefined for 0. */
export function isoTime(timeUs: bigint | number): string | undefined {
  const us = Number(timeUs);
  return us === 0 ? undefined : new Date(us / 1000).toISOString();
}

function two(whole: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((whole % large) / small);
  const first = `${Math.floor(whole / large)}${largeName}`;
  return rest === 0 ? first : `${first} ${rest}${smallName}`;
}
