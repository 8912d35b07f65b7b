const ISO =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,6}))?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

/**
 * Microseconds of an ISO date or date-time ("2026-01-31", "2026-01-31T10:00:00.5+02:00", also with a
 * space for the T); UTC where no offset is given. undefined for anything else, also for 30 February.
 */
export function parseTimeUs(text: string): number | undefined {
  const parts = ISO.exec(text);
  if (parts === null) return undefined;
  const part = (index: number) => Number(parts[index] ?? "0");
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const sameDay = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  if (!sameDay || hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMinutes = parseOffsetMinutes(parts[8] ?? "Z");
  if (offsetMinutes === undefined) return undefined;
  const seconds = date.getTime() / 1000 + (hour * 60 + minute - offsetMinutes) * 60 + second;
  return seconds * 1e6 + Number((parts[7] ?? "").padEnd(6, "0"));
}

function parseOffsetMinutes(offset: string): number | undefined {
  if (offset === "Z") return 0;
  const hours = Number(offset.slice(1, 3));
  const minutes = Number(offset.slice(-2));
  if (hours > 23 || minutes > 59) return undefined;
  return (offset.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

/** The shortest text that `parseTimeUs` reads back exactly; undefined for anything else. */
export function formatTimeUs(timeUs: number): string | undefined {
  if (!Number.isSafeInteger(timeUs) || Object.is(timeUs, -0)) return undefined;
  const micros = ((timeUs % 1e6) + 1e6) % 1e6;
  const date = new Date((timeUs - micros) / 1000);
  const year = date.getUTCFullYear();
  if (!(year >= 0 && year <= 9999)) return undefined;
  const iso = date.toISOString().slice(0, 19);
  if (micros === 0) return iso.endsWith("T00:00:00") ? iso.slice(0, 10) : `${iso}Z`;
  return `${iso}.${String(micros).padStart(6, "0")}Z`;
}
