import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bundlesOf } from "./bundles.ts";

describe("bundles of lines", () => {
  it("Z69 every run that remains is in one bundle, near its own line, and there are never more than bins allow", () => {
    const place = fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), fc.constant(Number.NaN));
    const rows = fc.array(fc.tuple(place, place, place, fc.boolean()), { maxLength: 300 });
    fc.assert(
      fc.property(rows, fc.integer({ min: 1, max: 12 }), (runs, bins) => {
        const mask = Uint8Array.from(runs, ([, , , isIn]) => Number(isIn));
        const bundles = bundlesOf(
          Float32Array.from(runs, ([a]) => a),
          Float32Array.from(runs, ([, b]) => b),
          Float64Array.from(runs, ([, , share]) => share),
          mask,
          bins,
        );
        expect(bundles.reduce((sum, { count }) => sum + count, 0)).toBe(
          mask.reduce((sum, bit) => sum + bit, 0),
        );
        expect(bundles.length).toBeLessThanOrEqual((bins + 1) ** 2);
        const near = (one: number, other: number) =>
          (Number.isNaN(one) && Number.isNaN(other)) || Math.abs(one - other) <= 1 / bins + 1e-6;
        for (const [i, [a, b]] of runs.entries()) {
          if (mask[i] === 1) expect(bundles.some(({ from, to }) => near(from, a) && near(to, b))).toBe(true);
        }
        for (let i = 1; i < bundles.length; i++)
          expect(bundles[i].count).toBeGreaterThanOrEqual(bundles[i - 1].count);
      }),
    );
  });
});
