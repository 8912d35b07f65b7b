import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { BandData } from "../ports/point-store.ts";
import { Buckets, gridOver } from "./buckets.ts";

const EVERYWHERE = { from: -Infinity, to: Infinity };

interface Sampled {
  x: number;
  value: number;
  skip: boolean;
}

/** Positions like steps, like times in microseconds, and as far apart as possible. */
const positionArbitrary = fc.oneof(
  fc.integer({ min: -20, max: 60 }),
  fc.integer({ min: 0, max: 5_000_000 }).map((us) => 1_767_225_600_000_000 + us),
  fc.maxSafeInteger(),
);

/** Sums of these are exact in any order. */
const valueArbitrary = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: -1000, max: 1000 }).map((n) => n / 4) },
  fc.constantFrom(NaN, Infinity),
);

const sampledArbitrary = fc.array(
  fc.record({ x: positionArbitrary, value: valueArbitrary, skip: fc.nat(9).map((n) => n === 0) }),
  { minLength: 1, maxLength: 60 },
);

function fill(points: readonly Sampled[], count: number, pieces: number): BandData {
  const xs = points.map(({ x }) => x);
  const buckets = new Buckets(gridOver(Math.min(...xs), Math.max(...xs), count), count);
  const size = Math.ceil(points.length / pieces);
  for (let from = 0; from < points.length; from += size) {
    const piece = points.slice(from, from + size);
    buckets.add(
      Float64Array.from(piece, ({ x }) => x),
      Float64Array.from(piece, ({ value }) => value),
      EVERYWHERE,
      Uint8Array.from(piece, ({ skip }) => Number(skip)),
    );
  }
  return buckets.finish();
}

/** The bucket whose bounds hold x; positions after the last one belong to it. */
function bucketOf(points: readonly Sampled[], x: number, count: number): number {
  const xs = points.map((point) => point.x);
  const { start, width } = gridOver(Math.min(...xs), Math.max(...xs), count);
  let bucket = 0;
  while (bucket < count - 1 && x >= start + (bucket + 1) * width) bucket++;
  return bucket;
}

describe("buckets", () => {
  it("P2 cover every point: counts add up, and no minimum or maximum is lost", () => {
    fc.assert(
      fc.property(
        sampledArbitrary,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 5 }),
        (points, count, pieces) => {
          const band = fill(points, count, pieces);
          const seen = points.filter(({ skip }) => !skip);
          const byBucket = Map.groupBy(seen, ({ x }) => bucketOf(points, x, count));
          expect([...band.bucket]).toEqual([...byBucket.keys()].sort((a, b) => a - b));
          band.bucket.forEach((bucket, i) => {
            const own = byBucket.get(bucket)!;
            const numbers = own.map(({ value }) => value).filter((value) => !Number.isNaN(value));
            // Sorting is stable, so that ties stay in order of arrival.
            const ordered = own.toSorted((a, b) => a.x - b.x);
            expect({
              count: band.count[i],
              nanCount: band.nanCount[i],
              min: band.min[i],
              max: band.max[i],
              first: band.first[i],
              last: band.last[i],
              mean: band.mean[i],
            }).toEqual({
              count: own.length,
              nanCount: own.length - numbers.length,
              min: numbers.length === 0 ? NaN : Math.min(...numbers),
              max: numbers.length === 0 ? NaN : Math.max(...numbers),
              first: ordered[0]!.value,
              last: ordered.at(-1)!.value,
              mean: numbers.reduce((sum, value) => sum + value, 0) / numbers.length,
            });
          });
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("P2 do not depend on how the points are cut into pieces", () => {
    fc.assert(
      fc.property(sampledArbitrary, fc.integer({ min: 1, max: 20 }), (points, count) => {
        expect(fill(points, count, 7)).toEqual(fill(points, count, 1));
      }),
    );
  });

  it("P2 leave out what is outside the range or has no place on the axis", () => {
    const buckets = new Buckets(gridOver(0, 9, 2), 2);
    const at = Float64Array.of(-1, 0, NaN, 4, 5, 9, 10);
    buckets.add(at, Float64Array.of(1, 2, 3, 4, 5, 6, 7), { from: 0, to: 9 }, undefined);
    expect(buckets.points).toBe(4);
    expect(buckets.finish()).toMatchObject({
      bucket: Float64Array.of(0, 1),
      count: Float64Array.of(2, 2),
      min: Float64Array.of(2, 5),
      max: Float64Array.of(4, 6),
    });
  });

  it("P2 keep a single infinity", () => {
    const buckets = new Buckets(gridOver(0, 1, 2), 2);
    buckets.add(Float64Array.of(0, 1), Float64Array.of(Infinity, -Infinity), EVERYWHERE, undefined);
    const drawn = buckets.finish();
    expect([...drawn.min]).toEqual([Infinity, -Infinity]);
    expect([...drawn.max]).toEqual([Infinity, -Infinity]);
  });

  it("P4 a grid covers both its ends with no more buckets than asked for", () => {
    fc.assert(
      fc.property(
        positionArbitrary,
        positionArbitrary,
        fc.integer({ min: 1, max: 20_000 }),
        (a, b, count) => {
          const [low, high] = [Math.min(a, b), Math.max(a, b)];
          const { start, width } = gridOver(low, high, count);
          expect(start).toBe(low);
          expect(width).toBeGreaterThanOrEqual(1);
          // Positions that rounding puts after the end belong to the last bucket.
          expect(start + count * width).toBeGreaterThan(high - width);
        },
      ),
    );
  });
});
