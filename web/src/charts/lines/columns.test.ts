import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { columnsOf } from "./columns.ts";
import { lowerBound } from "#base/lower-bound.ts";
import { extentOfX, nearestIndex } from "./line.ts";
import { marksOf } from "../paint/marks.ts";
import { linearScale } from "#lang/ticks/scale.ts";
import { sparklinePath } from "../paint/sparkline.ts";

const value = fc.oneof(
  { weight: 8, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  fc.constantFrom(Number.NaN, Infinity, -Infinity),
);
const series = fc
  .array(fc.tuple(fc.integer({ min: 0, max: 500 }), value), { maxLength: 400 })
  .map((points) => {
    const sorted = points.toSorted(([a], [b]) => a - b);
    return {
      x: Float64Array.from(sorted, ([x]) => x),
      y: Float64Array.from(sorted, ([, y]) => y),
    };
  });
const scale = linearScale(0, 500, 40, 140);

describe("columns of pixels", () => {
  it("Z22 a spike of a single point among ten million is as high as it was, in no more entries than columns", () => {
    const size = 10_000_000;
    const x = new Float64Array(size).map((_, i) => i);
    const y = new Float64Array(size);
    y[7_654_321] = 1e9;
    y[1_234_567] = -1e9;
    const columns = columnsOf(x, y, linearScale(0, size, 0, 300));
    expect(columns.size).toBeLessThanOrEqual(302);
    expect(Math.max(...columns.high.subarray(0, columns.size))).toBe(1e9);
    expect(Math.min(...columns.low.subarray(0, columns.size))).toBe(-1e9);
  });

  it("Z22 lowest and highest number of any line are kept, and columns stay in order", () => {
    fc.assert(
      fc.property(series, ({ x, y }) => {
        const { size, low, high, pixel, first } = columnsOf(x, y, scale);
        const finite = [...y].filter(Number.isFinite);
        const drawn = (column: Float64Array): number[] =>
          [...column.subarray(0, size)].filter(Number.isFinite);
        if (finite.length === 0) expect(size).toBe(0);
        else {
          expect(Math.min(...drawn(low))).toBe(Math.min(...finite));
          expect(Math.max(...drawn(high))).toBe(Math.max(...finite));
        }
        for (let i = 1; i < size; i++) expect(pixel[i]).toBeGreaterThanOrEqual(pixel[i - 1]);
        for (let i = 0; i < size; i++)
          if (!Number.isNaN(first[i])) expect(low[i] <= first[i] && first[i] <= high[i]).toBe(true);
      }),
    );
  });

  it("Z22 a gap between columns is an entry of its own, and there is none at the ends", () => {
    const x = Float64Array.of(0, 100, 200, 300, 400);
    const y = Float64Array.of(Number.NaN, 1, Number.NaN, 2, Number.NaN);
    const { size, first } = columnsOf(x, y, scale);
    expect([...first.subarray(0, size)]).toEqual([1, Number.NaN, 2]);
  });

  it("Z22 buckets have their own lowest and highest, and an infinite one does not break the line", () => {
    const columns = columnsOf(
      Float64Array.of(0, 250, 500),
      Float64Array.of(1, 2, 3),
      scale,
      Float64Array.of(0, -Infinity, 2),
      Float64Array.of(5, 9, Infinity),
    );
    expect([...columns.low.subarray(0, columns.size)]).toEqual([0, 2, 2]);
    expect([...columns.high.subarray(0, columns.size)]).toEqual([5, 9, 3]);
  });

  it("Z22 of a zoomed part only its points and one neighbour on either side are drawn", () => {
    const x = Float64Array.from({ length: 1000 }, (_, i) => i);
    const { size, first } = columnsOf(x, x, linearScale(500, 503, 0, 300));
    expect([...first.subarray(0, size)]).toEqual([499, 500, 501, 502, 503, 504]);
  });

  it("Z22 identical steps share a column with all their values", () => {
    const { size, low, high } = columnsOf(
      Float64Array.of(7, 7, 7, 7),
      Float64Array.of(3, 9, -2, 4),
      linearScale(6.9, 7.1, 0, 100),
    );
    expect(size).toBe(1);
    expect([low[0], high[0]]).toEqual([-2, 9]);
  });
});

describe("places", () => {
  it("Z23 the nearest point is the nearest, by looking at all of them", () => {
    fc.assert(
      fc.property(series, fc.double({ min: -50, max: 600, noNaN: true }), ({ x }, at) => {
        const found = nearestIndex(x, at);
        const best = Math.min(...[...x].map((each) => Math.abs(each - at)));
        if (x.length === 0) expect(found).toBe(-1);
        else expect(Math.abs(x[found] - at)).toBe(best);
      }),
    );
  });

  it("Z23 the bound is the first index at or above a value", () => {
    fc.assert(
      fc.property(series, fc.integer({ min: -1, max: 501 }), ({ x }, at) => {
        const found = [...x].findIndex((each) => each >= at);
        expect(lowerBound(x, at)).toBe(found < 0 ? x.length : found);
      }),
    );
    expect(extentOfX([])).toBeUndefined();
  });
});

describe("marks", () => {
  const points = { exact: true, pointCount: 0, unplacedCount: 0 };

  it("Z24 NaN and infinities are marked at the edges, a row of them not as a bar", () => {
    const x = Float64Array.of(0, 100, 200, 300);
    const y = Float64Array.of(Number.NaN, 1, Infinity, -Infinity);
    expect(marksOf({ ...points, x, y }, scale).map(({ kind }) => kind)).toEqual(["nan", "up", "down"]);
    const many = new Float64Array(100_000).fill(Number.NaN);
    const places = many.map((_, i) => i / 200);
    expect(marksOf({ ...points, x: places, y: many }, scale).length).toBeLessThanOrEqual(18);
  });

  it("Z24 a bucket with numbers and NaN has both its line and its mark", () => {
    const one = Float64Array.of(100);
    const marks = marksOf({ ...points, x: one, y: one, low: one, high: one, nan: Uint8Array.of(1) }, scale);
    expect(marks).toEqual([{ pixel: scale.toPlace(100), kind: "nan" }]);
  });
});

describe("sparkline", () => {
  it("Z22 a sparkline keeps its spike and its gaps, and is empty without points", () => {
    expect(sparklinePath([], 80, 20)).toBe("");
    expect(sparklinePath([Number.NaN, Infinity], 80, 20)).toBe("");
    const values = Array.from({ length: 5000 }, (_, i) => (i === 2500 ? 100 : 0));
    expect(sparklinePath(values, 80, 20)).toContain(" 1.0");
    expect(sparklinePath([1, 2, Number.NaN, 3, 4], 80, 20).match(/M/g)).toHaveLength(2);
  });
});
