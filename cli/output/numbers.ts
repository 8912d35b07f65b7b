const DIGITS = 4;
const SHORT_MAX = 1e7;
const SHORT_MIN = 1e-4;

/** Four significant digits; whole numbers in full, however large. Also takes integers beyond 2^53. */
export function formatNumber(value: number | bigint): string {
  if (typeof value === "bigint") return String(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (Object.is(value, -0)) return "-0";
  if (Number.isSafeInteger(value)) return String(value);
  const size = Math.abs(value);
  if (size >= SHORT_MAX || size < SHORT_MIN) return shortExponent(value.toExponential(DIGITS - 1));
  const whole = Math.floor(size);
  const decimals =
    whole >= 1 ? Math.max(0, DIGITS - String(whole).length) : DIGITS - 1 - Math.floor(Math.log10(size));
  return withoutZeros(value.toFixed(decimals));
}

const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] as const;

/** Such as "81.9 KiB": three digits are enough to judge a size. */
export function formatBytes(bytes: number | bigint): string {
  let size = Number(bytes);
  let unit = 0;
  // What would be rounded to 1024 belongs to the next unit.
  while (Math.abs(size) >= 1023.5 && unit < BYTE_UNITS.length - 1) {
    size /= 1024;
    unit++;
  }
  const decimals = unit === 0 || Math.abs(size) >= 99.95 ? 0 : 1;
  return `${size.toFixed(decimals)} ${BYTE_UNITS[unit]}`;
}

/** Whole numbers with thin groups, as in "1,204 runs". */
export function formatCount(count: number | bigint): string {
  return count.toLocaleString("en-US");
}

/** "1 run", "2 runs". */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 || count === 1n ? one : many}`;
}

function withoutZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** 1.500e-7 as 1.5e-7. */
function shortExponent(text: string): string {
  const [digits, exponent] = text.split("e") as [string, string];
  return `${withoutZeros(digits)}e${exponent.replace("+", "")}`;
}
