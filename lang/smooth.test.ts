import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { smooth, type Smoothing } from "./smooth.ts";

const value = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  fc.constantFrom(Number.NaN, Infinity, -Infinity),
);
const kinds: Smoothing[] = [
  { kind: "ema", weight: 0.9 },
  { kind: "time-ema", weight: 0.9, unit: 3 },
  { kind: "mean", window: 9 },
  { kind: "gaussian", sigma: 4 },
];

describe("smoothing", () => {
  it.each(kinds)("Z25 $kind keeps the length, stays between the values, and NaN does not spread", (how) => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 80 }), fc.nat(1_000), (values, more) => {
        const y = Float64Array.from(values);
        const x = y.map((_, i) => i * 2);
        const out = smooth(
          x,
          y,
          how,
          y.map((_, i) => 1 + ((more * i) % 7)),
        );
        const finite = values.filter(Number.isFinite);
        const [low, high] = [Math.min(...finite), Math.max(...finite)];
        const slack = (high - low) * 1e-9 + 1e-6;
        expect(out.length).toBe(y.length);
        for (const [i, each] of out.entries()) {
          if (!Number.isFinite(y[i])) expect(each).toBe(y[i]);
          else expect(each >= low - slack && each <= high + slack).toBe(true);
        }
      }),
    );
  });

  it.each(kinds)("Z25 $kind keeps a constant line and begins where the line begins", (how) => {
    const level = new Float64Array(50).fill(3.5);
    const x = level.map((_, i) => i);
    for (const each of smooth(x, level, how)) expect(each).toBeCloseTo(3.5, 9);
    if (how.kind === "ema" || how.kind === "time-ema")
      expect(smooth(x, Float64Array.of(9, 1, 1), how)[0]).toBe(9);
  });

  it("Z25 the exponential mean is the weighted mean of everything before", () => {
    const y = Float64Array.of(1, 5, 2, 8);
    const weight = 0.7;
    const want = [0, 1, 2, 3].map((n) => {
      let [sum, total] = [0, 0];
      for (let i = 0; i <= n; i++) {
        sum += y[i]! * weight ** (n - i);
        total += weight ** (n - i);
      }
      return sum / total;
    });
    const out = smooth(y, y, { kind: "ema", weight });
    for (const [i, each] of out.entries()) expect(each).toBeCloseTo(want[i]!, 12);
  });

  it("Z25, T42: a bucket counts as its points, so that more buckets make no other line", () => {
    const points = Float64Array.of(0, 1, 1, 1, 1, 5, 5);
    const at = points.map((_, i) => i);
    const bucketed = [Float64Array.of(0, 2.5, 5.5), Float64Array.of(0, 1, 5)] as const;
    const how: Smoothing = { kind: "ema", weight: 0.5 };
    const counts = Float64Array.of(1, 4, 2);
    const out = smooth(...bucketed, how, counts);
    const exact = smooth(at, points, how);
    expect(out[1]).toBeCloseTo(exact[4]!, 12);
    expect(out[2]).toBeCloseTo(exact[6]!, 12);
    expect(smooth(...bucketed, { kind: "mean", window: 5 }, counts)[1]).toBeCloseTo(2, 12);
    const atOnce: Smoothing = { kind: "time-ema", weight: 0.9, unit: Infinity };
    expect(smooth(...bucketed, atOnce, counts)[2]).toBeCloseTo(2, 12);
  });

  it("Z25, T42: a line of many points is as smooth as one of a thousand, with any number of buckets", () => {
    const how: Smoothing = { kind: "ema", weight: 0.99 };
    const lineOf = (length: number, count: number): number => {
      const y = Float64Array.from({ length }, (_, i) => Number(i >= length * 0.9));
      return smooth(y, y, how, new Float64Array(length).fill(count)).at(-1)!;
    };
    const short = lineOf(1_000, 1);
    expect(short).toBeLessThan(0.7);
    for (const [buckets, count] of [
      [200, 5],
      [500, 2_000],
      [100_000, 1],
    ] as const) {
      expect(lineOf(buckets, count)).toBeCloseTo(short, 2);
    }
  });

  it("Z25 by x, a long gap resets the mean, and points at the same x have the same weight", () => {
    const how: Smoothing = { kind: "time-ema", weight: 0.9, unit: 1 };
    expect(smooth(Float64Array.of(0, 1000), Float64Array.of(100, 1), how)[1]).toBeCloseTo(1, 6);
    expect(smooth(Float64Array.of(5, 5), Float64Array.of(10, 20), how)[1]).toBeCloseTo(15, 9);
    // Steps that went backwards never make a weight above 1.
    expect(smooth(Float64Array.of(9, 3), Float64Array.of(10, 20), how)[1]).toBeCloseTo(15, 9);
  });

  it("Z25 the running mean is the mean of the window", () => {
    const y = Float64Array.of(1, 2, 3, 4, 10);
    expect([...smooth(y, y, { kind: "mean", window: 3 })]).toEqual([1.5, 2, 3, 17 / 3, 7]);
  });
});
