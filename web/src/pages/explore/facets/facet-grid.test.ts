import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { curvesPerCell, leftOutOf, spreadOver } from "./facet-grid.ts";
import { medianOf } from "../strip.ts";

describe("what a facet grid shows", () => {
  it("Z69 curves are limited over the whole grid and are spread from the first run to the last", () => {
    for (let cells = 1; cells <= 36; cells++) expect(curvesPerCell(cells) * cells).toBeLessThanOrEqual(240);
    expect(curvesPerCell(1)).toBe(16);
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.integer({ min: 1, max: 20 }), (size, count) => {
        const all = Array.from({ length: size }, (_, i) => i);
        const some = spreadOver(all, count);
        expect(some.length).toBe(Math.min(size, count));
        expect(new Set(some).size).toBe(some.length);
        expect(some).toEqual(some.toSorted((a, b) => a - b));
        if (size > 0) expect(some[0]).toBe(0);
        if (size > 0 && count > 1) expect(some.at(-1)).toBe(size - 1);
      }),
    );
  });

  it("Z69 shows what is left out", () => {
    const facet = { label: "opt", values: [], places: new Int16Array(), leftOut: 7, valuesLeftOut: 2 };
    const grid = { rows: facet, columns: undefined, hue: undefined, dash: undefined, cells: [] };
    expect(leftOutOf(grid)).toEqual(["2 more values of opt (7 runs) are left out."]);
    expect(leftOutOf({ ...grid, rows: { ...facet, valuesLeftOut: 0 } })).toEqual([]);
  });

  it("Z69 the median is the middle one, or between the two in the middle", () => {
    expect(medianOf([])).toBeUndefined();
    expect(medianOf([3])).toBe(3);
    expect(medianOf([4, 1, 3])).toBe(3);
    expect(medianOf([1, 2, 3, 10])).toBe(2.5);
    expect(medianOf([Number.MAX_VALUE, Number.MAX_VALUE])).toBe(Number.MAX_VALUE);
  });
});
