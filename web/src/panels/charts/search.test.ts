import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  groupOf,
  rangeOf,
  rangeText,
  readChartSearch,
  smoothingOf,
  smoothingParts,
  withYRange,
  yRangesOf,
} from "./search.ts";

describe("chart parameters of an address", () => {
  it("Z31 valid values are read, others are ignored", () => {
    const right = {
      x: "metric",
      xkey: "train/tokens",
      logy: true,
      clip: true,
      rewound: true,
      smooth: "ema-0.6",
      keys: "val/*",
      range: "100..2000",
      yrange: "loss:0.1..0.5,val%2Facc:0.9..1",
      group: "mean-ci95",
      labels: "p95",
      shut: "system",
    };
    expect(readChartSearch({ ...right, tab: "charts" })).toEqual(right);
    expect(
      readChartSearch({
        x: "sideways",
        logy: "no",
        smooth: "ema-much",
        range: "9..1",
        yrange: "loss,acc:1..0,:",
        group: "mode-x",
        labels: {},
        shut: [],
      }),
    ).toEqual({});
    expect(readChartSearch({ x: "metric" })).toEqual({});
    expect(readChartSearch({ x: "time", xkey: "loss" })).toEqual({ x: "time" });
    // A router makes numbers of what looks like one.
    expect(readChartSearch({ keys: 5, logy: "1" })).toEqual({ keys: "5", logy: true });
  });

  it("Z31 invalid input is not an error, and values that were read are read the same again", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.constantFrom(
            "x",
            "xkey",
            "logy",
            "rewound",
            "smooth",
            "range",
            "yrange",
            "keys",
            "group",
            "shut",
          ),
          fc.anything(),
        ),
        (given) => {
          const once = readChartSearch(given);
          expect(readChartSearch({ ...once })).toEqual(once);
        },
      ),
    );
  });

  it("Z31 a zoomed range comes back as precise as a pixel", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -1e15, max: 1e15, noNaN: true }),
        fc.double({ min: 1e-12, max: 1e15, noNaN: true }),
        (from, width) => {
          fc.pre(width > Math.abs(from) * 1e-9);
          const [a, b] = rangeOf(rangeText([from, from + width]))!;
          expect(Math.abs(a - from)).toBeLessThanOrEqual(width / 500);
          expect(Math.abs(b - from - width)).toBeLessThanOrEqual(width / 500);
        },
      ),
    );
  });

  it("Z31 a range of y is kept by key, for any key and range, the latest ones of many", () => {
    const range = fc
      .tuple(
        fc.double({ noNaN: true, min: -1e300, max: 1e300 }),
        fc.double({ min: 1e-290, max: 1e300, noNaN: true }),
      )
      .map(([from, width]): [number, number] => [from, from + width])
      .filter(([from, to]) => to - from > Math.abs(from) * 1e-9);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.string({ unit: "grapheme", minLength: 1, maxLength: 2 }), range), {
          maxLength: 12,
        }),
        (zooms) => {
          let text: string | undefined;
          for (const [key, [from, to]] of zooms) text = withYRange(text, key, [from, to]);
          const read = yRangesOf(readChartSearch({ yrange: text }).yrange);
          for (const [key, [from, to]] of new Map(zooms)) {
            expect(Math.abs(read.get(key)![0] - from)).toBeLessThanOrEqual((to - from) / 500);
            expect(Math.abs(read.get(key)![1] - to)).toBeLessThanOrEqual((to - from) / 500);
          }
          for (const [key] of zooms) text = withYRange(text, key, undefined);
          expect(text).toBeUndefined();
        },
      ),
    );
    let many: string | undefined;
    for (let i = 0; i < 20; i++) many = withYRange(many, `key ${i}`, [i, i + 1]);
    expect([...yRangesOf(many).keys()].at(0)).toBe("key 8");
    for (let i = 0; i < 20; i++) many = withYRange(many, `${i} ${"/".repeat(500)}`, [i, i + 1]);
    const last = yRangesOf(readChartSearch({ yrange: many }).yrange);
    expect([...last.values()]).toEqual([
      [18, 19],
      [19, 20],
    ]);
  });

  it("Z31 amounts of smoothing stay within what the slider has", () => {
    expect(smoothingOf("ema-7")).toEqual({ kind: "ema", weight: 0.99 });
    expect(smoothingOf("gauss-0")).toEqual({ kind: "gaussian", sigma: 1 });
    expect(smoothingOf("constructor-1")).toEqual({ kind: "none" });
    expect(smoothingParts("mean-9")).toEqual({ name: "mean", amount: 9 });
    expect(groupOf("median-minmax")).toEqual({ middle: "median", spread: "minmax" });
    expect(groupOf("median")).toBeUndefined();
  });
});
