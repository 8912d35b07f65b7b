import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { logTicksCovering, logTicksWithin } from "./log-ticks.ts";
import { ticksCovering, ticksWithin } from "./number-ticks.ts";
import { labelled, type Tick } from "./tick-labels.ts";

const value = fc.oneof(
  fc.double({ min: -1e300, max: 1e300, noNaN: true }),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.constantFrom(0, 1e-300, -1e-300, 1e300, -1e300, 1e15, 2 ** 53),
);
/** Also tiny ranges far from 0. */
const range = fc.oneof(
  fc.tuple(value, value).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
  fc
    .tuple(value, fc.double({ min: -16, max: 0, noNaN: true }))
    .map(([at, share]) => [at, Math.min(1e300, at + Math.abs(at) * 10 ** share)] as const),
);
const positive = fc.double({ min: -300, max: 300, noNaN: true }).map((exponent) => 10 ** exponent);
const positiveRange = fc
  .tuple(positive, fc.oneof(positive, fc.double({ min: 1, max: 20, noNaN: true })))
  .map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const);
const countMax = fc.integer({ min: 3, max: 20 });
const runs = { numRuns: 2_000 };

const placesOf = (ticks: readonly Tick[]) => ticks.map(({ at }) => at);
const labelsOf = (ticks: readonly Tick[]) => ticks.map(({ label }) => label);

/** How many digits it takes to write it. */
function digitsOf(number: number): number {
  return number.toExponential().replace(/e.*/, "").replace(/[-.]/g, "").length;
}

function expectTicks(ticks: readonly Tick[], most: number): void {
  expect(ticks.length).toBeLessThanOrEqual(most);
  expect(new Set(labelsOf(ticks)).size).toBe(ticks.length);
  for (const [i, { at }] of ticks.entries()) {
    expect(Number.isFinite(at)).toBe(true);
    expect(digitsOf(at)).toBeLessThanOrEqual(15);
    if (i > 0) expect(at).toBeGreaterThan(ticks[i - 1]!.at);
  }
}

function expectEven(ticks: readonly Tick[]): void {
  const steps = ticks.slice(1).map(({ at }, i) => at / 2 - ticks[i]!.at / 2);
  const size = Math.max(...placesOf(ticks).map(Math.abs));
  for (const step of steps) expect(Math.abs(step - steps[0]!)).toBeLessThanOrEqual(size * 1e-15);
}

describe("ticks of numbers", () => {
  it("Z21 those within a range are inside, round, evenly spaced and distinct, and never fewer than fit at half the size", () => {
    fc.assert(
      fc.property(range, fc.integer({ min: 1, max: 20 }), ([min, max], most) => {
        const ticks = ticksWithin(min, max, most);
        expectTicks(ticks, most);
        expectEven(ticks);
        for (const at of placesOf(ticks)) expect(at).toSatisfy(() => at >= min && at <= max);
        const hasRoom =
          max / 2 - min / 2 > Math.max(Math.abs(min), Math.abs(max)) * 1e-12 && max - min > 1e-295;
        if (hasRoom) expect(ticks.length).toBeGreaterThanOrEqual(Math.floor(most / 2.6));
      }),
      runs,
    );
  });

  it("T41, Z21: those that cover a range begin and end outside it, are round, evenly spaced and distinct", () => {
    fc.assert(
      fc.property(range, countMax, ([min, max], most) => {
        const ticks = ticksCovering(min, max, most);
        expectTicks(ticks, most);
        expectEven(ticks);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks[0]!.at).toBeLessThanOrEqual(min);
        expect(ticks.at(-1)!.at).toBeGreaterThanOrEqual(max);
      }),
      runs,
    );
  });

  it("T41, Z21: those of steps are whole", () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.nat(2 ** 20), countMax, (min, length, most) => {
        const ticks = ticksWithin(min, min + length, most, { whole: true });
        for (const { at, label } of ticks) {
          expect(Number.isInteger(at)).toBe(true);
          expect(label).not.toMatch(/\.\d+$/);
        }
      }),
    );
  });

  it.each([
    [0, 1, 6, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]],
    [0.1, 0.35, 6, ["0.10", "0.15", "0.20", "0.25", "0.30", "0.35"]],
    [-7, 23, 4, ["0", "10", "20"]],
    [0, 41_000, 4, ["0", "20k", "40k"]],
    [9_400, 10_600, 3, ["9.5k", "10.0k", "10.5k"]],
    [1_000_000, 1_000_002, 3, ["1000000", "1000001", "1000002"]],
    [0, 3e9, 4, ["0", "1B", "2B", "3B"]],
    [0, 2.5e-6, 4, ["0", "1e-6", "2e-6"]],
    [998960130900.6049, 1000250000000, 3, ["999000000000", "999500000000", "1000000000000"]],
    [1e20, 1.45e20, 3, ["1e20", "1.2e20", "1.4e20"]],
  ])("Z21 within %d and %d", (min, max, most, labels) => {
    expect(labelsOf(ticksWithin(min, max, most))).toEqual(labels);
  });

  it.each([
    [0, 1, 6, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]],
    [0.11, 2.3, 6, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]],
    [0, 100_000, 6, ["0", "20k", "40k", "60k", "80k", "100k"]],
    [-3e-7, 2e-7, 4, ["-4e-7", "-2e-7", "0", "2e-7"]],
    [5, 5, 4, ["2", "4", "6", "8"]],
    [0, 0, 3, ["-1", "0", "1"]],
  ])("T41 covering %d to %d", (min, max, most, labels) => {
    expect(labelsOf(ticksCovering(min, max, most))).toEqual(labels);
  });

  it("Z21 an invalid range has none", () => {
    for (const [min, max] of [
      [1, 1],
      [2, 1],
      [NaN, 1],
      [-Infinity, 1],
      [0, Infinity],
    ] as const)
      expect(ticksWithin(min, max, 5)).toEqual([]);
  });
});

describe("ticks of a log axis", () => {
  it("Z21 those within a range are inside, round and distinct", () => {
    fc.assert(
      fc.property(positiveRange, fc.integer({ min: 2, max: 20 }), ([min, max], most) => {
        const ticks = logTicksWithin(min, max, most);
        expectTicks(ticks, most);
        for (const at of placesOf(ticks)) expect(at).toSatisfy(() => at >= min && at <= max);
      }),
      runs,
    );
  });

  it("T41, Z21: those that cover a range begin and end outside it, above 0, round and distinct", () => {
    fc.assert(
      fc.property(positiveRange, countMax, ([min, max], most) => {
        const ticks = logTicksCovering(min, max, most);
        expectTicks(ticks, most);
        expect(ticks.length).toBeGreaterThanOrEqual(2);
        expect(ticks[0]!.at).toBeGreaterThan(0);
        expect(ticks[0]!.at).toBeLessThanOrEqual(min);
        expect(ticks.at(-1)!.at).toBeGreaterThanOrEqual(max);
      }),
      {
        ...runs,
        examples: [
          [[1e-300, 1e300], 22],
          [[1e-300, 1e-300], 3],
          [[1e300, 1e300], 3],
        ],
      },
    );
  });

  it.each([
    [0.001, 100, 10, ["0.001", "0.01", "0.1", "1", "10", "100"]],
    [0.00001, 0.002, 20, ["1e-5", "2e-5", "5e-5", "0.0001", "0.0002", "0.0005", "0.001", "0.002"]],
    [2, 9, 4, ["2", "4", "6", "8"]],
    [1e-9, 1e9, 4, ["1e-5", "1", "100k"]],
  ])("Z21 within %d and %d", (min, max, most, labels) => {
    expect(labelsOf(logTicksWithin(min, max, most))).toEqual(labels);
  });
});

describe("labels of values", () => {
  it("Z21 differ for different values, and are as short as possible", () => {
    fc.assert(
      fc.property(fc.uniqueArray(value.map((one) => one + 0)), (values) => {
        expect(new Set(labelsOf(labelled(values))).size).toBe(values.length);
      }),
    );
    expect(labelsOf(labelled([0, 1e-5, 64, 16_384, 20_000, 1_500_000]))).toEqual([
      "0",
      "1e-5",
      "64",
      "16384",
      "20k",
      "1.5M",
    ]);
    expect(labelsOf(labelled([0.123456701, 0.123456702]))).toEqual(["0.123456701", "0.123456702"]);
  });
});
