import { describe, expect, it } from "vitest";
import { exactDuration, formatAge, formatAgo, formatDuration, formatTime, isoTime } from "./times.ts";

const NOW_MS = Date.UTC(2026, 10, 15, 12);
const secondsAgo = (seconds: number) => BigInt(NOW_MS) * 1000n - BigInt(Math.round(seconds * 1e6));

describe("times", () => {
  it.each([
    [0, "0ms"],
    [0.25, "250ms"],
    [5.04, "5.0s"],
    [9.97, "10s"],
    [59.7, "1m"],
    [61, "1m 1s"],
    [3_600, "1h"],
    [11_520, "3h 12m"],
    [187_200, "2d 4h"],
    [366 * 86_400, "1y 1d"],
    [-1, "?"],
    [NaN, "?"],
  ])("T18 writes %d seconds as %s", (seconds, text) => expect(formatDuration(seconds)).toBe(text));

  it.each([
    [0, "0"],
    [20, "20µs"],
    [1_500, "1.5ms"],
    [2_500_000, "2.5s"],
    [60_500_000, "1m 0.5s"],
    [95_400_000_000, "1d 2h 30m"],
    [-31_536_003_000_000, "-1y 3s"],
  ])("T18 writes %d microseconds in full as %s", (us, text) => expect(exactDuration(us)).toBe(text));

  it.each([
    [1, "now"],
    [-1, "now"],
    [59, "59s ago"],
    [3_599, "59m ago"],
    [7_300, "2h ago"],
    [3 * 86_400, "3d ago"],
    [800 * 86_400, "2y ago"],
    [-3 * 86_400 + 2, "in 3d"],
    [-90, "in 1m"],
  ])("T18 writes %d seconds ago as %s", (seconds, text) =>
    expect(formatAgo(secondsAgo(seconds), NOW_MS)).toBe(text),
  );

  it("T18 treats 0 as no time", () => {
    expect([formatAgo(0n), formatTime(0n), isoTime(0n)]).toEqual(["never", "", undefined]);
    expect(isoTime(secondsAgo(0))).toBe("2026-11-15T12:00:00.000Z");
  });

  it("T18, Z18: an age has one unit, and never 60 of a unit that has a larger one", () => {
    const ages = [-5, 0, 3, 59.6, 60, 1_500, 3_599, 3_600, 86_399, 200_000, 800 * 86_400].map(formatAge);
    expect(ages).toEqual(["0s", "0s", "3s", "59s", "1m", "25m", "59m", "1h", "23h", "2d", "2y"]);
  });
});
