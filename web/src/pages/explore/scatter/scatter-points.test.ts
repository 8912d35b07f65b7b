import { create } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RunSchema } from "#proto/cairn/v1/run_pb.ts";
import { axisOf } from "../columns/axis.ts";
import { ExploredTable } from "../columns/explored-table.ts";
import { layOutScatter, nearestPoint, placeOfX, placeOfY, xOf, heightOf } from "./scatter-points.ts";

describe("the points of a scatter", () => {
  it("Z69 points are within the frame, those of a category beside each other, and runs without a value are left out", () => {
    const text = fc.oneof(
      fc.integer({ min: -5, max: 5 }).map(String),
      fc.constantFrom('"a"', '"b"', undefined),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(text, text, text), { minLength: 1, maxLength: 40 }), (rows) => {
        const table = new ExploredTable(
          rows.map((row) =>
            create(RunSchema, {
              params: Object.fromEntries(
                row.flatMap((each, i) => (each === undefined ? [] : [["xyz"[i], each]])),
              ),
            }),
          ),
          0,
        );
        const [x, y] = ["params.x", "params.y"].map((each) => axisOf(table.column(each), undefined, 5));
        const layout = layOutScatter(x, y, table.column("params.z"), 400, 300);
        for (const [i, row] of rows.entries()) {
          const isThere = row[0] !== undefined && row[1] !== undefined;
          expect(Number.isNaN(layout.xs[i]), String(row)).toBe(!isThere);
          expect(layout.radii[i]).toBeGreaterThan(0);
          if (!isThere) continue;
          expect(layout.xs[i]).toBeGreaterThanOrEqual(layout.left);
          expect(layout.xs[i]).toBeLessThanOrEqual(layout.right);
          expect(layout.ys[i]).toBeGreaterThanOrEqual(layout.top);
          expect(layout.ys[i]).toBeLessThanOrEqual(layout.bottom);
          // Pointing at it finds it, or another that is as near.
          const found = nearestPoint(
            layout,
            new Uint8Array(rows.length).fill(1),
            layout.xs[i],
            layout.ys[i],
            5,
          );
          expect([layout.xs[found], layout.ys[found]]).toEqual([layout.xs[i], layout.ys[i]]);
          if (x.scale === "category")
            expect(x.valueAt(placeOfX(layout, layout.xs[i]))).toBe(x.column.values[i]);
        }
      }),
    );
    const frame = { left: 10, right: 110, top: 5, bottom: 205 };
    for (const place of [0, 0.3, 1]) {
      expect(placeOfX(frame, xOf(frame, place))).toBeCloseTo(place);
      expect(placeOfY(frame, heightOf(frame, place))).toBeCloseTo(place);
    }
    expect(nearestPoint({ xs: Float32Array.of(0), ys: Float32Array.of(0) }, Uint8Array.of(0), 0, 0, 9)).toBe(
      -1,
    );
  });
});
