import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isWorn, panned, shiftOf, zoomed } from "./motion.ts";
import { linearScale } from "#lang/ticks/scale.ts";

const place = fc.double({ min: -1e9, max: 1e9, noNaN: true });
const width = fc.double({ min: 1e-3, max: 1e9, noNaN: true });
const close = (a: number, b: number, size: number): void =>
  expect(Math.abs(a - b)).toBeLessThanOrEqual(1e-6 * size + 1e-9);

describe("moving along x", () => {
  it("Z95 a pan keeps the width and some of the points visible, and can be reversed", () => {
    fc.assert(
      fc.property(place, width, fc.double({ min: -5000, max: 5000, noNaN: true }), (from, size, byPx) => {
        fc.pre(size > Math.abs(from) * 1e-6);
        const extent = [from, from + size] as const;
        const scale = linearScale(from + size / 4, from + size / 2, 40, 440);
        const [a, b] = panned(scale, byPx, extent);
        close(b - a, size / 4, size);
        expect(a <= extent[1] && b >= extent[0]).toBe(true);
        const [c] = panned(linearScale(a, b, 40, 440), -byPx, extent);
        if (Math.abs(byPx) < 200) close(c, scale.from, size);
      }),
    );
  });

  it("Z95 a zoom keeps the place under the pointer, and has a limit", () => {
    fc.assert(
      fc.property(
        place,
        width,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0.01, max: 100, noNaN: true }),
        (from, size, share, factor) => {
          fc.pre(size > Math.abs(from) * 1e-6);
          const extent = [from, from + size] as const;
          const scale = linearScale(from, from + size, 40, 440);
          const around = from + share * size;
          const [a, b] = zoomed(scale, around, factor, extent);
          close((around - a) / (b - a), share, 1);
          close(b - a, Math.min(3, factor) * size, size);
        },
      ),
    );
    const [a, b] = zoomed(linearScale(0, 1, 0, 100), 0.5, 1e-30, [0, 1]);
    expect(b - a).toBeGreaterThan(1e-10);
  });

  it("Z95 a picture that covers the range is only stretched; otherwise it is redrawn", () => {
    const drawn = linearScale(100, 200, 40, 440);
    expect(isWorn(drawn, [120, 180])).toBe(false);
    expect(isWorn(drawn, [99, 180])).toBe(true);
    expect(isWorn(drawn, [120, 201])).toBe(true);
    expect(isWorn(drawn, [140, 160])).toBe(true);
  });

  it("Z95 a shifted picture shows every value where a new one would", () => {
    fc.assert(
      fc.property(place, width, place, width, place, (from, size, at, other, value) => {
        fc.pre(other > Math.abs(at) * 1e-6 && size > Math.abs(from) * 1e-6);
        const drawn = linearScale(from, from + size, 40, 440);
        const { shiftPx, stretch } = shiftOf(drawn, [at, at + other]);
        const wanted = linearScale(at, at + other, 40, 440).toPlace(value);
        const got = 40 + (drawn.toPlace(value) - 40) * stretch + shiftPx;
        close(got, wanted, Math.abs(wanted) + Math.abs(shiftPx) + 440 * stretch);
      }),
    );
  });
});
