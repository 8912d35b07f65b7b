const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const whole = new Intl.NumberFormat("en");

/** 1,284 as it is, 12,840 as 12.8k, as the axes of charts have it. */
export function formatCount(count: number): string {
  return count < 10_000 ? whole.format(count) : compact.format(count).replace("K", "k");
}

/** Four significant digits; whole numbers as they are; very small and large ones with an exponent. */
export function formatNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (Number.isInteger(value) && Math.abs(value) < 1e9) return whole.format(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(2).replace("e+", "e");
  return String(Number(value.toPrecision(4)));
}

/** The same, but with its last zeros: in a column the digits stand below each other. */
export function evenNumber(value: number): string {
  const size = Math.abs(value);
  return Number.isInteger(value) || size < 1e-3 || size >= 1e3 || Number.isNaN(size)
    ? formatNumber(value)
    : value.toPrecision(4);
}

/** 42 s, 6.6 min, 3.2 h, 5.1 d. */
export function formatDuration(us: number): string {
  const seconds = us / 1e6;
  if (seconds < 60) return `${Math.max(0, Math.round(seconds))} s`;
  if (seconds < 5_400) return `${(seconds / 60).toFixed(1)} min`;
  if (seconds < 172_800) return `${(seconds / 3_600).toFixed(1)} h`;
  return `${(seconds / 86_400).toFixed(1)} d`;
}

/** 42 s, 7 min, 3 h, 5 d: where there is little room. */
export function formatAge(us: number): string {
  const seconds = Math.max(0, us / 1e6);
  if (seconds < 59.5) return `${Math.round(seconds)} s`;
  if (seconds < 3_570) return `${Math.round(seconds / 60)} min`;
  return seconds < 84_600 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** How long ago that was, in the words of formatDuration. */
export function formatAgo(timeUs: number, nowMs = Date.now()): string {
  return `${formatDuration(Math.max(0, nowMs * 1000 - timeUs))} ago`;
}

export function formatBytes(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}
