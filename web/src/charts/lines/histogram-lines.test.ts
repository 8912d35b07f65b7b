import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { histogramLines } from "./histogram-lines.ts";

const histogram = fc
  .tuple(
    fc.uniqueArray(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 70 }),
    fc.array(fc.integer({ min: 0, max: 500 }), { minLength: 70, maxLength: 70 }),
    fc.integer({ min: 0, max: 100 }),
  )
  .map(([edges, counts, step]) => ({
    step,
    edges: edges.toSorted((a, b) => a - b),
    counts: counts.slice(0, edges.length - 1),
  }));

describe("histograms over steps", () => {
  it("Z27 every step keeps all its counts, for any edges, and steps rise", () => {
    fc.assert(
      fc.property(fc.array(histogram, { minLength: 1, maxLength: 6 }), (histograms) => {
        const lines = histogramLines(histograms);
        const sorted = histograms.toSorted((a, b) => a.step - b.step);
        expect(lines.length).toBeLessThanOrEqual(48);
        for (const [i, { step, counts }] of sorted.entries()) {
          const want = counts.reduce((sum, each) => sum + each, 0);
          expect(lines[0].x[i]).toBe(step);
          expect(lines.reduce((sum, line) => sum + line.y[i], 0)).toBeCloseTo(want, 4);
        }
      }),
    );
  });

  it("Z27 the highest values are the top row, and equal edges need no redistribution", () => {
    const lines = histogramLines([{ step: 1, edges: [0, 1, 2], counts: [7, 3] }]);
    expect(lines.map(({ name, y }) => [name, y[0]])).toEqual([
      ["1", 3],
      ["0", 7],
    ]);
    const large = histogramLines([{ step: 1, edges: [12345.678, 12346.678], counts: [1] }]);
    expect(large.map(({ name }) => name)).toEqual(["12,346"]);
    expect(histogramLines([{ step: 1, edges: [5, 5], counts: [2] }])).toEqual([]);
  });
});
