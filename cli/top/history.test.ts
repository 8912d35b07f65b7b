import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { pointMarks } from "#sdk/series.ts";
import { History } from "./history.ts";

const value = fc.double({ min: -1e9, max: 1e9 });

describe("History", () => {
  it("T51 keeps a bounded number of buckets with every extreme in them", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 6_000, size: "max" }), fc.nat(1_000), (values, loaded) => {
        const before = values.slice(0, loaded);
        const history = History.of(pointMarks(Float64Array.from(before.keys()), Float64Array.from(before)));
        for (const [i, one] of values.entries()) if (i >= loaded) history.add(i, one);
        const { x, low, high, count, first, last } = history.marks();
        expect(x.length).toBeLessThanOrEqual(512);
        expect(count.reduce((sum, one) => sum + one, 0)).toBe(values.length);
        let at = 0;
        for (let i = 0; i < x.length; i++) {
          const stretch = values.slice(at, at + count[i]!);
          const numbers = stretch.filter((one) => !Number.isNaN(one));
          expect(x[i]).toBe(at);
          expect(low[i]).toBe(numbers.length === 0 ? NaN : Math.min(...numbers));
          expect(high[i]).toBe(numbers.length === 0 ? NaN : Math.max(...numbers));
          expect([first[i], last[i]]).toEqual([stretch[0], stretch.at(-1)]);
          at += count[i]!;
        }
      }),
      { numRuns: 30 },
    );
  });

  it("T51 shows a single outlier in a line of ten columns", () => {
    const history = new History();
    for (let i = 0; i < 20_000; i++) history.add(i, i === 12_345 ? 50 : Math.sin(i));
    const columns = history.columns(10);
    expect(columns).toHaveLength(10);
    expect(columns.filter((one) => one === 50)).toHaveLength(1);
    expect(columns.indexOf(50)).toBe(6);
  });

  it("T51 says whether each point is a mark of its own", () => {
    const history = new History();
    for (let i = 0; i < 512; i++) history.add(i, i);
    expect(history.isExact).toBe(true);
    history.add(512, 512);
    expect(history.isExact).toBe(false);
    expect([history.pointCount, history.last]).toEqual([513, 512]);
  });
});
