import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Form, SeriesDataSchema, SeriesKind, type SeriesData } from "#proto/cairn/v1/metric_pb.ts";
import { joinBySteps } from "./join-by-step.ts";

const NO_GRID = { gridStart: 0, gridWidth: 0 };

function column(values: readonly number[]): { bytes: Uint8Array } {
  return { bytes: new Uint8Array(Float64Array.from(values).buffer) };
}

function exact(points: readonly (readonly [step: number, value: number])[]): SeriesData {
  return create(SeriesDataSchema, {
    form: Form.EXACT,
    kind: SeriesKind.NUMBER,
    pointCount: BigInt(points.length),
    steps: column(points.map(([step]) => step)),
    values: column(points.map(([, value]) => value)),
  });
}

function band(rows: readonly { bucket: number; count: number; mean: number }[]): SeriesData {
  const of = (pick: (row: (typeof rows)[number]) => number) => column(rows.map(pick));
  return create(SeriesDataSchema, {
    form: Form.BAND,
    kind: SeriesKind.NUMBER,
    pointCount: BigInt(rows.reduce((sum, { count }) => sum + count, 0)),
    bucket: of(({ bucket }) => bucket),
    count: of(({ count }) => count),
    mean: of(({ mean }) => mean),
    min: of(({ mean }) => mean - 1),
    max: of(({ mean }) => mean + 1),
    nanCount: of(() => 0),
  });
}

describe("one metric over another", () => {
  it("Z91 points are at the value of the other metric at the same step; those without one are counted", () => {
    const loss = exact([
      [1, 0.9],
      [2, 0.5],
      [3, 0.4],
      [Number.NaN, 7],
    ]);
    const tokens = exact([
      [1, 300],
      [3, 100],
      [4, 5],
    ]);
    const joined = joinBySteps(loss, tokens, NO_GRID);
    expect(joined).toMatchObject({ exact: true, pointCount: 4, unplacedCount: 2 });
    expect([...joined.x]).toEqual([100, 300]);
    expect([...joined.y]).toEqual([0.4, 0.9]);
    expect(joinBySteps(loss, undefined, NO_GRID)).toMatchObject({ unplacedCount: 4 });
  });

  it("Z91 joins any two series like a lookup of every step", () => {
    const series = fc.array(
      fc.tuple(fc.integer({ min: 0, max: 12 }), fc.constantFrom(1, 2, 2.5, -4, Number.NaN, Infinity)),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(series, series, (points, others) => {
        const { x, y, unplacedCount } = joinBySteps(exact(points), exact(others), NO_GRID);
        const expected = points.flatMap(([step, value]) => {
          const at = others.findLast(([other]) => other === step)?.[1];
          return at === undefined || !Number.isFinite(at) ? [] : [[at, value] as const];
        });
        expect(unplacedCount).toBe(points.length - expected.length);
        expect(Array.from(x, (at, i) => [at, y[i]])).toEqual(expected.toSorted(([a], [b]) => a - b));
      }),
    );
  });

  it("Z91 bands are joined by buckets, keep their spikes, and are not called exact", () => {
    const grid = { gridStart: 0, gridWidth: 10 };
    const loss = band([
      { bucket: 0, count: 10, mean: 5 },
      { bucket: 1, count: 10, mean: 4 },
      { bucket: 2, count: 3, mean: 3 },
    ]);
    const both = joinBySteps(
      loss,
      band([
        { bucket: 0, count: 10, mean: 700 },
        { bucket: 1, count: 10, mean: 200 },
      ]),
      grid,
    );
    expect(both).toMatchObject({ exact: false, pointCount: 23, unplacedCount: 3 });
    expect([...both.x]).toEqual([200, 700]);
    expect([...both.high!]).toEqual([5, 6]);
    const few = joinBySteps(
      loss,
      exact([
        [3, 10],
        [5, 30],
        [25, 50],
      ]),
      grid,
    );
    expect([...few.x]).toEqual([20, 50]);
    expect(few.unplacedCount).toBe(10);
    const over = joinBySteps(exact([[14, 1]]), band([{ bucket: 1, count: 9, mean: 8 }]), grid);
    expect(over).toMatchObject({ exact: false, unplacedCount: 0 });
    expect([...over.x]).toEqual([8]);
  });

  it("Z91 texts can be y, but not x", () => {
    const phase = create(SeriesDataSchema, {
      form: Form.EXACT,
      kind: SeriesKind.TEXT,
      pointCount: 2n,
      steps: column([1, 2]),
      texts: ["warm", "hot"],
    });
    const joined = joinBySteps(
      phase,
      exact([
        [1, 20],
        [2, 10],
      ]),
      NO_GRID,
    );
    expect(joined.words).toEqual(["warm", "hot"]);
    expect([...joined.y]).toEqual([1, 0]);
    expect(joinBySteps(exact([[1, 3]]), phase, NO_GRID)).toMatchObject({ unplacedCount: 1 });
  });
});
