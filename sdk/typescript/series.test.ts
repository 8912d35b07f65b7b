import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Axis, ColumnSchema, Form, SeriesDataSchema, SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { bandOf, doublesOf, interval95, numberCounts, seriesMarks, valuesOf } from "./series.ts";

const noGrid = { gridStart: 0, gridWidth: 0 };

/** As in a message: at any offset of a larger buffer. */
function column(values: readonly number[], offset = 0) {
  // Node gives small messages parts of one pool.
  const bytes = Buffer.alloc(offset + values.length * 8);
  bytes.set(new Uint8Array(Float64Array.from(values).buffer), offset);
  return create(ColumnSchema, { bytes: bytes.subarray(offset) });
}

describe("columns of an answer", () => {
  it("Z34 doubles are exact at any offset of the buffer", () => {
    fc.assert(
      fc.property(fc.array(fc.double()), fc.integer({ min: 0, max: 15 }), (values, offset) => {
        expect([...doublesOf(column(values, offset))]).toEqual(values);
      }),
    );
    expect(doublesOf(undefined).length).toBe(0);
  });

  it("Z34 integers and bools become numbers", () => {
    const integers = new Uint8Array(BigInt64Array.of(-3n, 2n ** 40n).buffer);
    const of = (bytes: Uint8Array, kind: SeriesKind) =>
      valuesOf(create(SeriesDataSchema, { values: { bytes }, kind }));
    expect([...of(integers, SeriesKind.INTEGER)]).toEqual([-3, 2 ** 40]);
    expect([...of(Uint8Array.of(1, 0), SeriesKind.BOOL)]).toEqual([1, 0]);
  });
});

describe("marks of a series", () => {
  it("Z34, T45: points keep their place; those that the axis cannot show are counted, and so are NaN", () => {
    const data = create(SeriesDataSchema, {
      kind: SeriesKind.NUMBER,
      form: Form.EXACT,
      pointCount: 4n,
      steps: column([1, 5, 9, Number.NaN]),
      values: column([10, Number.NaN, 30, 40]),
    });
    const marks = seriesMarks(data, Axis.STEP, noGrid);
    expect([...marks.x]).toEqual([1, 5, 9]);
    expect([...marks.mean]).toEqual([10, Number.NaN, 30]);
    expect([...marks.nan]).toEqual([0, 1, 0]);
    expect(marks).toMatchObject({ exact: true, pointCount: 4, unplacedCount: 1 });
    expect(seriesMarks(data, Axis.TIME, noGrid)).toMatchObject({ unplacedCount: 4 });
  });

  it("Z34, T42: times since the start of a run begin at 0", () => {
    const data = create(SeriesDataSchema, {
      form: Form.EXACT,
      timesUs: column([500, 700]),
      values: column([1, 2]),
    });
    expect([...seriesMarks(data, Axis.TIME, noGrid, 500).x]).toEqual([0, 200]);
  });

  it("Z34, T40: buckets are at the middle of their steps, and count the numbers in them", () => {
    const data = create(SeriesDataSchema, {
      form: Form.BAND,
      pointCount: 23n,
      bucket: column([0, 2]),
      count: column([10, 12]),
      mean: column([5, 6]),
      min: column([1, 2]),
      max: column([9, 8]),
      nanCount: column([0, 3]),
    });
    const marks = seriesMarks(data, Axis.STEP, { gridStart: 100, gridWidth: 11 });
    expect([...marks.x]).toEqual([105, 127]);
    expect(marks.span).toEqual({ min: 100, max: 132 });
    expect([...numberCounts(marks)]).toEqual([10, 9]);
    expect(marks).toMatchObject({ exact: false, pointCount: 23, unplacedCount: 1 });
    const moved = seriesMarks(data, Axis.TIME, { gridStart: 100, gridWidth: 11 }, 100);
    expect([[...moved.x], moved.span]).toEqual([[5, 27], { min: 0, max: 32 }]);
  });
});

describe("bands of groups", () => {
  it("Z27, T44: have the statistics of their names, and a single run has none", () => {
    const group = {
      x: Float64Array.of(0, 1),
      count: Float64Array.of(4, 1),
      mean: Float64Array.of(10, 7),
      median: Float64Array.of(9, 7),
      std: Float64Array.of(2, Number.NaN),
      stderr: Float64Array.of(1, Number.NaN),
      min: Float64Array.of(8, 7),
      max: Float64Array.of(13, 7),
    };
    expect(bandOf(group, "mean", "std")).toEqual({
      low: Float64Array.of(8, 7),
      high: Float64Array.of(12, 7),
    });
    expect(bandOf(group, "median", "stderr")).toEqual({
      low: Float64Array.of(8, 7),
      high: Float64Array.of(10, 7),
    });
    expect(bandOf(group, "mean", "minmax")).toEqual({ low: group.min, high: group.max });
    expect(bandOf(group, "mean", "ci95").high[0]).toBeCloseTo(13.182, 6);
    expect(interval95(1)).toBeNaN();
    expect(interval95(1000)).toBe(1.96);
  });
});
