import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { headWidth, nearestLine, parallelWidth, placeAt, yOf } from "./parallel-layout.ts";

describe("the layout of parallel coordinates", () => {
  it("Z69 the line under the pointer is the nearest of those that remain", () => {
    const y = fc.double({ min: 0, max: 100, noNaN: true });
    const runs = fc.array(fc.tuple(y, y, fc.boolean()), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(runs, fc.double({ min: 0, max: 200, noNaN: true }), y, (lines, x, at) => {
        const ys = [0, 1].map((axis) => Float32Array.from(lines, (line) => line[axis] as number));
        const mask = Uint8Array.from(lines, ([, , isIn]) => Number(isIn));
        const found = nearestLine({ xs: [0, 200], ys }, mask, x, at, 30);
        const far = (i: number) => {
          const rise = ys[1][i] - ys[0][i];
          return (Math.abs(ys[0][i] + (rise * x) / 200 - at) * 200) / Math.hypot(200, rise);
        };
        const within = lines.flatMap((_, i) => (mask[i] === 1 && far(i) <= 30 ? [far(i)] : []));
        if (within.length === 0) expect(found).toBe(-1);
        else expect(far(found)).toBeCloseTo(Math.min(...within), 6);
      }),
    );
    expect(nearestLine({ xs: [], ys: [] }, Uint8Array.of(1), 0, 0, 9)).toBe(-1);
    expect(nearestLine({ xs: [5], ys: [Float32Array.of(3)] }, Uint8Array.of(1), 5, 4, 9)).toBe(0);
  });

  it("Z69 heights map to places and back, none is beside the axis, and many axes are scrolled", () => {
    const layout = { top: 10, bottom: 210, noneY: 230 };
    expect(yOf(layout, Number.NaN)).toBe(230);
    for (const place of [0, 0.25, 1]) expect(placeAt(layout, yOf(layout, place))).toBeCloseTo(place);
    // Users do not hit the last pixel.
    expect([placeAt(layout, 207), placeAt(layout, 14)]).toEqual([0, 1]);
    expect(placeAt(layout, 225)).toBeLessThan(0);
    expect(parallelWidth(3, 900)).toBe(900);
    expect(parallelWidth(24, 900)).toBeGreaterThan(2_000);
    for (const xs of [[64, 236, 408], [64, 536, 1008], [500]]) {
      const heads = xs.map((x, i) => [x - headWidth(xs, i) / 2, x + headWidth(xs, i) / 2]);
      expect(heads[0][0]).toBeGreaterThanOrEqual(0);
      expect(heads.at(-1)![1]).toBeLessThanOrEqual(xs.at(-1)! + 64);
      for (const [i, [from]] of heads.entries()) if (i > 0) expect(from).toBeGreaterThan(heads[i - 1][1]);
    }
  });
});
