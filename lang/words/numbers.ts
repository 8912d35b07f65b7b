/** Numbers as people read them, the same in terminal and pages. */

const DIGITS = 4;
/** From here on a number is written with an exponent: its last digits are not exact any more. */
const LARGE = 1e15;
const SMALL = 1e-4;

export interface NumberFormat {
  /** Significant digits; the digits of the whole part are all there, however many they are. 4 by default. */
  digits?: number;
  /** With the zeros at the end, so that the digits of a column are below each other. */
  even?: boolean;
}

/** 0.01235, 1.5, 12,346, 1.235e-7. Integers in full; also takes a bigint. */
export function formatNumber(
  value: number | bigint,
  { digits = DIGITS, even = false }: NumberFormat = {},
): string {
  if (typeof value === "bigint") return formatCount(value);
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "-∞";
  if (Object.is(value, -0)) return "-0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < LARGE) return formatCount(value);
  if (size < SMALL || size >= LARGE) {
    const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
    return `${even ? mantissa : withoutZeros(mantissa)}e${exponent.replace("+", "")}`;
  }
  if (size < 1) {
    const text = value.toPrecision(digits);
    return even ? text : withoutZeros(text);
  }
  const decimals = Math.max(0, digits - Math.floor(size).toString().length);
  const text = value.toLocaleString("en", {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return even ? text : withoutZeros(text);
}

/** In full, in groups of three: 1,204,331. */
export function formatCount(count: number | bigint): string {
  return count.toLocaleString("en");
}

/** Made when it is first needed: that takes milliseconds, which every command would pay. */
let compact: Intl.NumberFormat | undefined;

/** 1,284 as it is, 12,840 as 12.8k: where there is no room for all digits. */
export function shortCount(count: number): string {
  if (count < 10_000) return formatCount(count);
  compact ??= new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
  return compact.format(count).replace("K", "k");
}

/** "1 run", "2 runs". */
export function countOf(count: number | bigint, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 || count === 1n ? one : many}`;
}

/** Above ten times, a percentage is of no use. */
const SHARE_MAX = 10;
/** Below, one digit after the point is zero. */
const SHARE_MIN = 0.001;

/** "-12.9 %", "+<0.1 %": by which share of the value before it changed. undefined where that is not useful. */
export function formatPercentChange(share: number | undefined): string | undefined {
  const size = Math.abs(share ?? Infinity);
  if (!(size < SHARE_MAX)) return undefined;
  const sign = share! > 0 ? "+" : share! < 0 ? "-" : "";
  return size !== 0 && size < SHARE_MIN ? `${sign}<0.1 %` : `${sign}${(size * 100).toFixed(1)} %`;
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

function withoutZeros(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
