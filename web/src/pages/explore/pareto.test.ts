import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paretoFrontier, type Goal } from "./pareto.ts";

describe("the Pareto frontier", () => {
  it("Z67 holds exactly the runs that no other beats, whichever way is better", () => {
    const value = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom(Number.NaN, Infinity));
    const goal = fc.constantFrom<Goal>("min", "max");
    fc.assert(
      fc.property(
        fc.array(fc.tuple(value, value, fc.boolean()), { maxLength: 30 }),
        goal,
        goal,
        (rows, gx, gy) => {
          const x = Float64Array.from(rows, ([each]) => each);
          const y = Float64Array.from(rows, ([, each]) => each);
          const isIn = (row: number) => rows[row][2];
          const takesPart = (row: number) => isIn(row) && Number.isFinite(x[row]) && Number.isFinite(y[row]);
          const better = (a: number, b: number, how: Goal) => (how === "min" ? a < b : a > b);
          const beats = (a: number, b: number) =>
            !better(x[b], x[a], gx) &&
            !better(y[b], y[a], gy) &&
            (better(x[a], x[b], gx) || better(y[a], y[b], gy));
          const plain = rows.flatMap((_, row) =>
            takesPart(row) && !rows.some((__, other) => takesPart(other) && beats(other, row)) ? [row] : [],
          );
          const found = paretoFrontier(x, y, [gx, gy], isIn);
          expect(found.toSorted((a, b) => a - b)).toEqual(plain);
          for (let i = 1; i < found.length; i++) expect(better(x[found[i]], x[found[i - 1]], gx)).toBe(false);
        },
      ),
    );
  });
});
