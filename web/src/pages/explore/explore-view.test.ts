import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { colourEnds, sharesOf } from "./explore-view.ts";
import { ExploredTable } from "./columns/explored-table.ts";

function columnOf(values: readonly number[]) {
  const runs = values.map((value) => create(RunSchema, { params: { p: String(value) } }));
  return new ExploredTable(runs, 0).column("params.p");
}

describe("colours of runs by how good they are", () => {
  it("Z65 go from 0 to 1 in the order of any values", () => {
    const value = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.double({ noNaN: true, min: 0, max: 1 }),
      fc.constantFrom(5e-324, 1.7976931348623157e308, -1.7976931348623157e308, 0),
    );
    fc.assert(
      fc.property(fc.array(value, { minLength: 1, maxLength: 60 }), (values) => {
        const column = columnOf(values);
        const shares = sharesOf(column, "max", values.length);
        const rows = [...values.keys()].toSorted((a, b) => column.values[a] - column.values[b]);
        for (const [i, row] of rows.entries()) {
          expect(shares[row]).toBeGreaterThanOrEqual(0);
          expect(shares[row]).toBeLessThanOrEqual(1);
          if (i > 0) expect(shares[row]).toBeGreaterThanOrEqual(shares[rows[i - 1]]);
        }
      }),
    );
  });

  it("Z65 are not dominated by an outlier, which has the colour of the end", () => {
    const calm = Array.from({ length: 30 }, (_, i) => 0.1 + i / 300);
    for (const outliers of [[1e6], [-1e6], [1e6, -1e6]]) {
      const values = [...calm, ...outliers];
      const column = columnOf(values);
      const shares = sharesOf(column, "max", values.length);
      const inner = shares.slice(0, calm.length);
      expect(Math.max(...inner) - Math.min(...inner)).toBeGreaterThan(0.95);
      expect(colourEnds(column).high).toBeLessThan(1);
      for (const [i, value] of outliers.entries()) expect(shares[calm.length + i]).toBe(value > 0 ? 1 : 0);
      expect(sharesOf(column, "min", values.length)[0]).toBeCloseTo(1 - shares[0], 12);
    }
    // Without outliers, or with few values, all values count.
    for (const values of [calm, [...calm.slice(0, 5), 1e6]]) {
      const { low, high } = columnOf(values);
      expect(colourEnds(columnOf(values))).toEqual({ low, high });
    }
  });
});
