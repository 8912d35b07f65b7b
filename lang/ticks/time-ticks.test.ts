import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { formatDuration } from "../words/times.ts";
import { clockTicks } from "./clock-ticks.ts";
import { DAY_US, durationText, durationTicks, HOUR_US, MINUTE_US, SECOND_US } from "./duration-ticks.ts";
import type { Tick } from "./tick-labels.ts";

const zone = process.env.TZ;
afterAll(() => {
  if (zone === undefined) delete process.env.TZ;
  else process.env.TZ = zone;
});

const countMax = fc.integer({ min: 1, max: 20 });
const spanUs = fc.double({ min: 1, max: 17, noNaN: true }).map((exponent) => Math.round(10 ** exponent));
const labelsOf = (ticks: readonly Tick[]) => ticks.map(({ label }) => label);

function expectTicks(ticks: readonly Tick[], min: number, max: number, most: number): void {
  expect(ticks.length).toBeLessThanOrEqual(most);
  for (const [i, { at }] of ticks.entries()) {
    expect(at).toBeGreaterThanOrEqual(min);
    expect(at).toBeLessThanOrEqual(max);
    if (i > 0) expect(at).toBeGreaterThan(ticks[i - 1]!.at);
  }
}

describe("ticks of durations", () => {
  it("Z21 are inside, distinct and few enough, for any span", () => {
    const from = fc.oneof(fc.constant(0), fc.integer(), fc.double({ min: -1e300, max: 1e300, noNaN: true }));
    fc.assert(
      fc.property(from, fc.oneof(spanUs, fc.constant(1e300)), countMax, (min, span, most) => {
        const ticks = durationTicks(min, min + span, most);
        expectTicks(ticks, min, min + span, most);
        expect(new Set(labelsOf(ticks)).size).toBe(ticks.length);
        if (Math.abs(min) < Math.min(1e15, 1e9 * span) && span > 100 * most)
          expect(ticks.length).toBeGreaterThanOrEqual(Math.floor(most / 3.5));
      }),
      { numRuns: 2_000 },
    );
    expect(durationTicks(5, 5, 4)).toEqual([]);
  });

  it.each([
    [0, 90 * SECOND_US, 4, ["0", "30s", "1m", "1m 30s"]],
    [0.5 * HOUR_US, 3.2 * HOUR_US, 4, ["1h", "2h", "3h"]],
    [0, 45, 5, ["0", "10µs", "20µs", "30µs", "40µs"]],
    [0, 1.2 * SECOND_US, 3, ["0", "500ms", "1s"]],
    [-2 * MINUTE_US, MINUTE_US, 4, ["-2m", "-1m", "0", "1m"]],
    [10 * HOUR_US, 10 * HOUR_US + 4 * SECOND_US, 3, ["10h", "10h 2s", "10h 4s"]],
    [0, 800 * DAY_US, 3, ["0", "1y", "2y"]],
  ])("Z21 from %d to %d", (min, max, most, labels) => {
    expect(labelsOf(durationTicks(min, max, most))).toEqual(labels);
  });

  it("Z21, T18: have the same text as durations elsewhere", () => {
    for (const us of [30 * SECOND_US, 90 * MINUTE_US, 36 * HOUR_US, 20 * DAY_US])
      expect(durationText(us)).toBe(formatDuration(us / SECOND_US));
    expect([0, 1_500, -2.5e6, 5_430.7e6, 260_000e6, NaN].map(durationText)).toEqual([
      "0",
      "1.5ms",
      "-2.5s",
      "1h 30m 30s",
      "3d 14m",
      "?",
    ]);
  });
});

describe("ticks of times", () => {
  const zones = ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe"];

  it("Z21 are inside, rise, are few enough, and are distinct between one midnight and the next", () => {
    const from = fc.integer({ min: -(10 ** 15), max: 4 * 10 ** 15 });
    fc.assert(
      fc.property(fc.constantFrom(...zones), from, spanUs, countMax, (name, min, span, most) => {
        process.env.TZ = name;
        const ticks = clockTicks(min, min + span, most);
        expectTicks(ticks, min, min + span, most);
        let day = "";
        const seen = ticks.map(({ at, label }) => {
          if (/^[A-Z\d-]+/.test(label) && !label.includes(":")) day = label;
          // An hour that comes twice is written twice.
          return `${day} ${label} ${new Date(at / 1_000).getTimezoneOffset()}`;
        });
        expect(new Set(seen).size).toBe(ticks.length);
      }),
      { numRuns: 2_000 },
    );
  });

  it("Z21 handle the largest and smallest dates and those outside", () => {
    for (const [min, max] of [
      [-1e300, 1e300],
      [1e22, 1e23],
      [-8.64e21, 8.64e21],
      [5, 5],
      [NaN, 5],
    ] as const)
      expectTicks(clockTicks(min, max, 6), min, max, 6);
  });

  const us = (text: string) => Date.parse(text) * 1_000;

  it.each([
    ["UTC", "2026-11-15T11:40:00Z", "2026-11-15T14:20:00Z", 4, ["12:00", "13:00", "14:00"]],
    [
      "UTC",
      "2026-11-15T23:59:58Z",
      "2026-11-16T00:00:02Z",
      5,
      ["23:59:58", "23:59:59", "Nov 16", "00:00:01", "00:00:02"],
    ],
    ["UTC", "2026-11-15T12:00:00.100Z", "2026-11-15T12:00:00.260Z", 2, ["12:00:00.100", "12:00:00.200"]],
    [
      "Europe/Berlin",
      "2026-03-28T20:00:00Z",
      "2026-03-30T10:00:00Z",
      4,
      ["Mar 29", "12:00", "Mar 30", "12:00"],
    ],
    [
      "America/New_York",
      "2026-10-30T12:00:00Z",
      "2026-11-03T12:00:00Z",
      4,
      ["Oct 31", "Nov 1", "Nov 2", "Nov 3"],
    ],
    ["Asia/Kathmandu", "2026-11-15T00:00:00Z", "2026-11-15T03:00:00Z", 3, ["06:00", "07:00", "08:00"]],
    ["UTC", "2026-11-01T12:00:00Z", "2026-11-25T12:00:00Z", 4, ["Nov 2", "Nov 9", "Nov 16", "Nov 23"]],
    [
      "Europe/Berlin",
      "2026-01-15T00:00:00Z",
      "2026-05-15T00:00:00Z",
      5,
      ["Feb 2026", "Mar 2026", "Apr 2026", "May 2026"],
    ],
    ["UTC", "2019-06-01T00:00:00Z", "2032-01-01T00:00:00Z", 3, ["2020", "2025", "2030"]],
  ])("Z21 in %s from %s to %s", (name, from, to, most, labels) => {
    process.env.TZ = name;
    expect(labelsOf(clockTicks(us(from), us(to), most))).toEqual(labels);
  });

  it("Z21 the first has its day where nothing else says it", () => {
    process.env.TZ = "UTC";
    const from = us("2026-11-15T11:40:00Z");
    const labels = labelsOf(clockTicks(from, from + 3 * HOUR_US, 3, { dayFirst: true }));
    expect(labels).toEqual(["Nov 15 12:00", "13:00", "14:00"]);
  });
});
