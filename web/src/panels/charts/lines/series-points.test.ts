import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { Axis, ColumnSchema, Form, SeriesDataSchema, SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { withNeighbours } from "./beyond-zoom.ts";
import { seriesPoints, shareWords } from "./series-points.ts";

const noGrid = { gridStart: 0, gridWidth: 0 };

function column(values: readonly number[]) {
  return create(ColumnSchema, { bytes: new Uint8Array(Float64Array.from(values).buffer) });
}

describe("points of a series", () => {
  it("Z34 exact points keep their place; those that cannot be shown are counted, not drawn", () => {
    const data = create(SeriesDataSchema, {
      kind: SeriesKind.NUMBER,
      form: Form.EXACT,
      pointCount: 4n,
      steps: column([1, 5, 9, Number.NaN]),
      values: column([10, Number.NaN, 30, 40]),
    });
    const points = seriesPoints(data, Axis.STEP, noGrid);
    expect([...points.x]).toEqual([1, 5, 9]);
    expect([...points.y]).toEqual([10, Number.NaN, 30]);
    expect(points).toMatchObject({ exact: true, pointCount: 4, unplacedCount: 1 });
    expect(seriesPoints(data, Axis.TIME, noGrid)).toMatchObject({ unplacedCount: 4 });
  });

  it("Z34 buckets are at the middle of their steps, with lowest, highest and a mark for values that are not numbers", () => {
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
    const points = seriesPoints(data, Axis.STEP, { gridStart: 100, gridWidth: 11 });
    expect([...points.x]).toEqual([105, 127]);
    expect([[...points.nan!], [...points.count!]]).toEqual([
      [0, 1],
      [10, 9],
    ]);
    expect([[...points.low!], [...points.high!]]).toEqual([
      [1, 2],
      [9, 8],
    ]);
    expect(points).toMatchObject({ exact: false, pointCount: 23, unplacedCount: 1 });
  });

  it("Z34 texts become heights by order of appearance, shared by all lines of a chart", () => {
    const texts = (words: string[]) =>
      seriesPoints(
        create(SeriesDataSchema, {
          kind: SeriesKind.TEXT,
          form: Form.EXACT,
          pointCount: BigInt(words.length),
          steps: column(words.map((_, i) => i)),
          texts: words,
        }),
        Axis.STEP,
        noGrid,
      );
    const [a, b] = shareWords([texts(["warm", "hot", "warm"]), texts(["cold", "hot"])]);
    expect([...a.y]).toEqual([0, 1, 0]);
    expect(b.words).toEqual(["warm", "hot", "cold"]);
    expect([...b.y]).toEqual([2, 1]);
    const many = texts(Array.from({ length: 500 }, (_, i) => `word ${i}`));
    expect(many.words!.length).toBe(41);
    expect(Math.max(...many.y)).toBe(40);
  });
});

describe("a zoomed part", () => {
  const points = (x: number[], y: number[] = x) => ({
    x: Float64Array.from(x),
    y: Float64Array.from(y),
    exact: true,
    pointCount: x.length,
    unplacedCount: 0,
  });

  it("Z35 has one point of the whole line on either side, and a line without a point in it crosses it", () => {
    const whole = points([0, 10, 20, 30, 40]);
    expect([...withNeighbours(points([20]), whole).x]).toEqual([10, 20, 30]);
    expect([...withNeighbours(points([0, 10]), whole).x]).toEqual([0, 10, 20]);
    expect([...withNeighbours(points([]), whole).x]).toEqual([0, 10, 20, 30, 40]);
    const band = {
      ...points([20]),
      low: Float64Array.of(1),
      high: Float64Array.of(99),
      nan: Uint8Array.of(1),
      count: Float64Array.of(5),
    };
    const joined = withNeighbours(band, whole);
    expect([...joined.low!]).toEqual([10, 1, 30]);
    expect([...joined.high!]).toEqual([10, 99, 30]);
    expect([...joined.nan!]).toEqual([0, 1, 0]);
    expect([...joined.count!]).toEqual([1, 5, 1]);
  });
});
