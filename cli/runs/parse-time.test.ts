import { describe, expect, it } from "vitest";
import { parseTime } from "./parse-time.ts";

const NOW = Date.parse("2026-11-15T12:00:00Z");
const iso = (text: string) => new Date(Number(parseTime(text, NOW)) / 1000).toISOString();

describe("parseTime", () => {
  it.each([
    ["now", "2026-11-15T12:00:00.000Z"],
    ["10m", "2026-11-15T11:50:00.000Z"],
    ["now-2h", "2026-11-15T10:00:00.000Z"],
    ["1.5d", "2026-11-14T00:00:00.000Z"],
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31 10:30", "2026-01-31T10:30:00.000Z"],
    ["2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00.000Z"],
  ])("T29 reads %s", (text, time) => {
    expect(iso(text)).toBe(time);
  });

  it.each(["", "yesterday", "10", "10y", "2026-13-01", "2026-01-31T25:00", "-5m"])(
    "T29 refuses %j",
    (text) => {
      expect(() => parseTime(text, NOW)).toThrow(/must be a time such as/);
    },
  );
});
