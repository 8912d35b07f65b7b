import { formatNumber } from "#lang/words/numbers.ts";

/** Above ten times, a percentage of the baseline is not useful. */
const SHARE_MAX = 10;
/** Below, one digit after the point is all zero. */
const SHARE_MIN = 0.001;

/** "−12.9 %", or the difference itself where a percentage would not be useful. */
export function formatDelta(difference: number, share: number | undefined): string {
  const sign = difference > 0 ? "+" : difference < 0 ? "−" : "";
  if (share === undefined || Math.abs(share) >= SHARE_MAX) return sign + formatNumber(Math.abs(difference));
  const size = Math.abs(share);
  if (size !== 0 && size < SHARE_MIN) return `${sign}<0.1 %`;
  return `${sign}${(size * 100).toFixed(1)} %`;
}
