import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/**
 * A time as users type it, in microseconds: "10m" or "now-10m" before now, a date (midnight UTC), a date-time
 * (UTC without an offset), as in the query language.
 */
export function parseTime(text: string, nowMs: number = Date.now()): bigint {
  const words = text.trim();
  if (words === "now") return BigInt(Math.round(nowMs * 1000));
  const ago = /^(?:now-)?(\d+(?:\.\d+)?)([smhdw])$/.exec(words);
  if (ago !== null) return BigInt(Math.round((nowMs - Number(ago[1]) * UNITS[ago[2]!]! * 1000) * 1000));
  if (/^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/.test(words)) {
    const iso = words.replace(" ", "T");
    const ms = Date.parse(/^\d{4}-\d{2}-\d{2}$|Z$|[+-]\d{2}:\d{2}$/.test(iso) ? iso : `${iso}Z`);
    if (!Number.isNaN(ms)) return BigInt(Math.round(ms * 1000));
  }
  throw new InvalidArgumentError(
    'must be a time such as 10m, 2h, 3d, "2026-01-31" or "2026-01-31T10:00:00Z".',
  );
}
