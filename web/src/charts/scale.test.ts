import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linearScale, logScale } from "./scale.ts";
import { linearTicks, tickLabels, ticksOf } from "./ticks.ts";
import { clockLabels, durationLabel, timeTicks } from "./time-ticks.ts";

const number = fc.double({ min: -1e12, max: 1e12, noNaN: true });
const positive = fc.double({ min: 1e-9, max: 1e12, noNaN: true });

const isOnAxis = (pixel: number) => pixel >= 0 && pixel <= 100;

describe("scales", () => {
  it("Z20 a value and its pixel lead to each other, on both kinds of scale", () => {
    fc.assert(
      fc.property(positive, positive, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
        fc.pre(Math.max(a, b) / Math.min(a, b) > 1.001);
        for (const scale of [
          linearScale(Math.min(a, b), Math.max(a, b), 40, 400),
          logScale(Math.min(a, b), Math.max(a, b), 300, 8),
        ]) {
          const pixel = scale.start + (scale.end - scale.start) * share;
          expect(scale.toPixel(scale.toValue(pixel))).toBeCloseTo(pixel, 3);
        }
      }),
    );
  });

  it("Z20 a range of nothing still has room around its one value", () => {
    fc.assert(
      fc.property(number, (value) => {
        const scale = linearScale(value, value, 0, 100);
        expect(scale.toPixel(value)).toBeCloseTo(50, 3);
      }),
    );
    expect(linearScale(-1e308, 1e308, 0, 100).toPixel(0)).toBeCloseTo(50, 6);
    expect(logScale(5, 5, 0, 100).toPixel(5)).toBeCloseTo(50, 6);
    for (const end of [Number.MIN_VALUE, Number.MAX_VALUE]) {
      for (const from of [0, end]) expect(logScale(from, end, 0, 100).toPixel(end)).toSatisfy(isOnAxis);
    }
  });

  it("Z20 what a log axis has no place for is NaN, and a range that begins at 0 is drawn all the same", () => {
    const scale = logScale(0, 100, 0, 100);
    expect(scale.toPixel(0)).toBeNaN();
    expect(scale.toPixel(-3)).toBeNaN();
    expect(scale.toPixel(100)).toBeCloseTo(100, 6);
    expect(scale.from).toBeGreaterThan(0);
  });
});

describe("ticks", () => {
  it("Z21 ticks are inside, rise evenly, are few enough, and never fewer than half of what would fit", () => {
    fc.assert(
      fc.property(number, positive, fc.integer({ min: 2, max: 12 }), (from, width, most) => {
        const to = from + width;
        fc.pre(to > from && width > Math.abs(from) * 1e-9);
        const ticks = linearTicks(from, to, most);
        expect(ticks.length).toBeLessThanOrEqual(most);
        expect(ticks.length).toBeGreaterThanOrEqual(Math.floor(most / 2.6));
        const slack = (to - from) * 1e-6;
        for (const [i, tick] of ticks.entries()) {
          expect(tick).toBeGreaterThanOrEqual(from - slack);
          expect(tick).toBeLessThanOrEqual(to + slack);
          if (i > 0) expect(tick).toBeGreaterThan(ticks[i - 1]);
        }
      }),
    );
  });

  it("Z21 ticks are round", () => {
    expect(linearTicks(0, 1, 6)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(linearTicks(0.1, 0.35, 6)).toEqual([0.1, 0.15, 0.2, 0.25, 0.3, 0.35]);
    expect(linearTicks(-7, 23, 4)).toEqual([0, 10, 20]);
    expect(ticksOf(logScale(0.001, 100, 0, 1), 10)).toEqual([0.001, 0.01, 0.1, 1, 10, 100]);
    expect(ticksOf(logScale(2, 9, 0, 1), 4).length).toBeGreaterThan(1);
  });

  it("Z21 labels of ticks that differ differ", () => {
    fc.assert(
      fc.property(number, positive, (from, width) => {
        fc.pre(width > Math.abs(from) * 1e-3);
        const ticks = linearTicks(from, from + width, 6);
        expect(new Set(tickLabels(ticks)).size).toBe(ticks.length);
      }),
      { numRuns: 2_000, examples: [[998960130900.6049, 1289869099.1450806]] },
    );
    expect(tickLabels([0, 20_000, 40_000])).toEqual(["0", "20k", "40k"]);
    expect(tickLabels([1e-6, 2e-6])).toEqual(["1e-6", "2e-6"]);
  });

  it("Z21 ticks of time stand at round hours and days, whatever the span", () => {
    const hour = 3_600e6;
    expect(timeTicks(0.5 * hour, 3.2 * hour, 4)).toEqual([hour, 2 * hour, 3 * hour]);
    expect(timeTicks(0, 90e6, 4)).toEqual([0, 30e6, 60e6, 90e6]);
    fc.assert(
      fc.property(
        fc.double({ min: 10, max: 1e16, noNaN: true }),
        fc.integer({ min: 2, max: 10 }),
        (span, most) => {
          const ticks = timeTicks(1.79e15, 1.79e15 + span, most);
          expect(ticks.length).toBeLessThanOrEqual(most);
          expect(clockLabels(ticks, span).length).toBe(ticks.length);
        },
      ),
    );
    expect([0, 1_500, 2e6, 300e6, 5_400e6, 260_000e6].map(durationLabel)).toEqual([
      "0",
      "1.5 ms",
      "2 s",
      "5 min",
      "90 min",
      "3.009 d",
    ]);
  });
});
