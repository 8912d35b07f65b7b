import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linearScale, logScale } from "./scale.ts";

const number = fc.double({ min: -1e12, max: 1e12, noNaN: true });
const positive = fc.double({ min: 1e-9, max: 1e12, noNaN: true });

const isOnAxis = (place: number) => place >= 0 && place <= 100;

describe("scales", () => {
  it("Z20 values map to places and back, on both kinds of scale", () => {
    fc.assert(
      fc.property(positive, positive, fc.double({ min: 0, max: 1, noNaN: true }), (a, b, share) => {
        fc.pre(Math.max(a, b) / Math.min(a, b) > 1.001);
        for (const scale of [
          linearScale(Math.min(a, b), Math.max(a, b), 40, 400),
          logScale(Math.min(a, b), Math.max(a, b), 300, 8),
        ]) {
          const place = scale.start + (scale.end - scale.start) * share;
          expect(scale.toPlace(scale.toValue(place))).toBeCloseTo(place, 3);
        }
      }),
    );
  });

  it("Z20 an empty range is widened around its one value", () => {
    fc.assert(
      fc.property(number, (value) => {
        const scale = linearScale(value, value, 0, 100);
        expect(scale.toPlace(value)).toBeCloseTo(50, 3);
      }),
    );
    expect(linearScale(-1e308, 1e308, 0, 100).toPlace(0)).toBeCloseTo(50, 6);
    expect(logScale(5, 5, 0, 100).toPlace(5)).toBeCloseTo(50, 6);
    for (const end of [Number.MIN_VALUE, Number.MAX_VALUE]) {
      for (const from of [0, end]) expect(logScale(from, end, 0, 100).toPlace(end)).toSatisfy(isOnAxis);
    }
  });

  it("Z20 a value that a log axis cannot show is NaN, and a range that begins at 0 is still drawn", () => {
    const scale = logScale(0, 100, 0, 100);
    expect(scale.toPlace(0)).toBeNaN();
    expect(scale.toPlace(-3)).toBeNaN();
    expect(scale.toPlace(100)).toBeCloseTo(100, 6);
    expect(scale.from).toBeGreaterThan(0);
  });
});
