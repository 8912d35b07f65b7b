import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { coveringLogTicks, coveringTicks, tickLabel } from "./ticks.ts";

const value = fc.double({ min: -1e300, max: 1e300, noNaN: true });
const range = fc.tuple(value, value).map(([a, b]) => (a <= b ? ([a, b] as const) : ([b, a] as const)));
const wanted = fc.integer({ min: 2, max: 12 });

/** Whether few digits are enough to write it. */
function digitsOf(number: number): number {
  return number.toExponential().replace(/e.*/, "").replace(/[-.]/g, "").length;
}

describe("coveringTicks", () => {
  it("T41 covers the range with few evenly spaced round numbers", () => {
    fc.assert(
      fc.property(range, wanted, ([min, max], count) => {
        const { values, step } = coveringTicks(min, max, count);
        expect(values[0]).toBeLessThanOrEqual(min);
        expect(values.at(-1)).toBeGreaterThanOrEqual(max);
        expect(values.length).toBeGreaterThanOrEqual(2);
        expect(values.length).toBeLessThanOrEqual(Math.max(2 * count, count + 3));
        expect([1, 2, 5]).toContain(Number(step.toExponential().split("e")[0]));
        for (const [i, tick] of values.entries()) {
          if (i > 0) expect(tick).toBeGreaterThan(values[i - 1]!);
          // A whole multiple of the step: as near as doubles come.
          expect(Math.abs(tick / step - Math.round(tick / step))).toBeLessThan(1e-3);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it("T41 has whole ticks for steps", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.nat(2 ** 20), wanted, (min, length, count) => {
        const { values } = coveringTicks(min, min + length, count, { whole: true });
        for (const tick of values) expect(Number.isInteger(tick)).toBe(true);
      }),
    );
  });

  it.each([
    [0, 1, 5, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]],
    [0.11, 2.3, 5, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]],
    [0, 100_000, 5, ["0", "20k", "40k", "60k", "80k", "100k"]],
    [-3e-7, 2e-7, 3, ["-4e-7", "-2e-7", "0", "2e-7"]],
    [5, 5, 4, ["2", "4", "6", "8"]],
    [0, 0, 2, ["-1", "0", "1"]],
  ])("T41 from %d to %d", (min, max, count, labels) => {
    const { values, step } = coveringTicks(min, max, count);
    expect(values.map((tick) => tickLabel(tick, step))).toEqual(labels);
  });
});

describe("coveringLogTicks", () => {
  it("T41 covers the range of a log axis with round numbers", () => {
    const positive = fc.double({ min: 1e-290, max: 1e290, noNaN: true });
    fc.assert(
      fc.property(positive, positive, wanted, (a, b, count) => {
        const { values } = coveringLogTicks(Math.min(a, b), Math.max(a, b), count);
        expect(values[0]).toBeLessThanOrEqual(Math.min(a, b));
        expect(values.at(-1)).toBeGreaterThanOrEqual(Math.max(a, b));
        expect(values.length).toBeGreaterThanOrEqual(2);
        expect(values.length).toBeLessThanOrEqual(2 * count + 4);
        for (const tick of values) expect(digitsOf(tick)).toBe(1);
      }),
      { numRuns: 2_000 },
    );
  });
});
