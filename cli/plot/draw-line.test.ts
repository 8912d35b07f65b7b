import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BRAILLE, DotGrid, WHOLE_CELL } from "./dot-grid.ts";
import { drawLine } from "./draw-line.ts";
import { pointMarks, type Marks } from "#sdk/series.ts";
import { extentOf, type Line } from "./line.ts";
import { positionScale, valueScale } from "./scale.ts";

const size = fc.record({
  columns: fc.integer({ min: 1, max: 40 }),
  rows: fc.integer({ min: 1, max: 12 }),
  shape: fc.constantFrom(BRAILLE, WHOLE_CELL),
});
const value = fc.double({ min: -1e6, max: 1e6 });

function marksOf(values: readonly number[]): Marks {
  return pointMarks(Float64Array.from(values.keys()), Float64Array.from(values));
}

function lineOf(marks: Marks): Line {
  return { name: "", marks, form: "", missing: "" };
}

function axesFor(marks: Marks, log = false) {
  const x = extentOf([marks.x])!;
  const y = extentOf(
    [marks.low, marks.high],
    log ? (one: number) => one > 0 && one < Infinity : Number.isFinite,
  );
  return {
    x: positionScale(x.min, x.max, 4, "step"),
    y: valueScale(y?.min ?? 1, y?.max ?? 1, 4, { log }),
  };
}

describe("drawLine", () => {
  it("T40 sets a dot for every point in its own column and row", () => {
    fc.assert(
      fc.property(
        size,
        fc.array(value, { minLength: 1, maxLength: 300 }),
        ({ columns, rows, shape }, values) => {
          const marks = marksOf(values);
          const axes = axesFor(marks);
          const grid = new DotGrid(columns, rows, shape);
          drawLine(grid, lineOf(marks), axes, 0);
          for (const [i, each] of values.entries()) {
            if (Number.isNaN(each)) continue;
            expect(grid.has(grid.dotX(axes.x.place(i)), grid.dotY(axes.y.place(each)))).toBe(true);
          }
        },
      ),
    );
  });

  it("T40 sets dots at both extremes of every bucket, on a log axis, too", () => {
    const bucket = fc.tuple(value, value, value, value);
    fc.assert(
      fc.property(
        size,
        fc.array(bucket, { minLength: 1, maxLength: 100 }),
        fc.boolean(),
        (shape, buckets, log) => {
          const sorted = buckets.map((four) =>
            four.filter((one) => !Number.isNaN(one)).sort((a, b) => a - b),
          );
          const column = (pick: (four: number[], i: number) => number | undefined) =>
            Float64Array.from(sorted, (four, i) => pick(four, i) ?? NaN);
          const marks: Marks = {
            x: Float64Array.from(sorted.keys()),
            low: column((four) => four[0]),
            high: column((four) => four.at(-1)),
            first: column((_, i) => buckets[i]![0]),
            last: column((_, i) => buckets[i]![3]),
            mean: column((four) => four[0]),
            count: column(() => 4),
          };
          const axes = axesFor(marks, log);
          const grid = new DotGrid(shape.columns, shape.rows, shape.shape);
          drawLine(grid, lineOf(marks), axes, 0);
          for (let i = 0; i < sorted.length; i++) {
            for (const extreme of [marks.low[i]!, marks.high[i]!]) {
              const place = axes.y.place(extreme);
              if (Number.isNaN(place)) continue;
              expect(grid.has(grid.dotX(axes.x.place(i)), grid.dotY(place))).toBe(true);
            }
          }
        },
      ),
    );
  });

  it("T45 leaves a gap where NaN is", () => {
    const values = Array.from({ length: 80 }, (_, i) => (i >= 30 && i < 50 ? NaN : 1));
    const marks = marksOf(values);
    const grid = new DotGrid(40, 4);
    drawLine(grid, lineOf(marks), axesFor(marks), 0);
    const columns = Array.from({ length: 40 }, (_, column) =>
      [0, 1, 2, 3].some((row) => grid.cell(column, row).bits !== 0),
    );
    expect(columns.slice(0, 15)).not.toContain(false);
    expect(columns.slice(15, 25)).not.toContain(true);
    expect(columns.slice(25)).not.toContain(false);
  });

  it("T45 draws an infinite value to the edge", () => {
    const marks = marksOf([1, Infinity, 2]);
    const grid = new DotGrid(10, 4);
    const axes = axesFor(marks);
    drawLine(grid, lineOf(marks), axes, 0);
    expect(grid.has(grid.dotX(0.5), 0)).toBe(true);
  });
});

describe("DotGrid", () => {
  it("T43 gives a cell the colour of the line with most of its dots, and keeps bands out of lines", () => {
    const grid = new DotGrid(2, 1);
    for (const y of [0, 1, 2]) grid.set(0, y, 1);
    grid.set(1, 0, 2);
    expect(grid.cell(0, 0)).toMatchObject({ owner: 1, faint: false });
    for (const y of [1, 2, 3]) grid.set(1, y, 2);
    expect(grid.cell(0, 0).owner).toBe(2);
    grid.set(2, 0, 3, true);
    expect(grid.cell(1, 0)).toEqual({ bits: 0x01, owner: 3, faint: true });
    grid.set(3, 0, 4);
    grid.set(2, 3, 3, true);
    expect(grid.cell(1, 0)).toEqual({ bits: 0x08, owner: 4, faint: false });
  });
});
