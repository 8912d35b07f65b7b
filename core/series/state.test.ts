import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NaiveSeries } from "#store/contract/naive-series.ts";
import { points } from "#store/contract/stores.ts";
import type { Points, SeriesKind, Values } from "../types/series.ts";
import {
  addPoints,
  markReplaced,
  newSeriesState,
  replacementThresholds,
  summarize,
  type Piece,
  type SeriesState,
} from "./state.ts";
import { dose } from "../../tools/dose.ts";

interface Written {
  writer: number;
  points: Points;
}

const KINDS: readonly SeriesKind[] = ["number", "integer", "bool", "text"];

function valuesArbitrary(kind: SeriesKind, count: number): fc.Arbitrary<Values> {
  const length = { minLength: count, maxLength: count };
  switch (kind) {
    case "number":
      return fc.float64Array(length).map((data) => ({ kind, data }));
    case "integer":
      return fc.bigInt64Array(length).map((data) => ({ kind, data }));
    case "bool":
      return fc.uint8Array({ ...length, max: 1 }).map((data) => ({ kind, data }));
    case "text":
      return fc.array(fc.string({ unit: "grapheme" }), length).map((data) => ({ kind, data }));
  }
}

/** Few steps, so that writers meet; all or none of the points of a piece have one. */
function pieceArbitrary(kind: SeriesKind): fc.Arbitrary<Written> {
  const column = (count: number, min: number, max: number) =>
    fc.option(
      fc
        .array(fc.integer({ min, max }), { minLength: count, maxLength: count })
        .map((list) => Float64Array.from(list)),
      { nil: undefined, freq: 4 },
    );
  return fc
    .nat(6)
    .chain((count) =>
      fc.tuple(fc.nat(3), valuesArbitrary(kind, count), column(count, -2, 12), column(count, 0, 99)),
    )
    .map(([writer, values, steps, times]) => ({ writer, points: points(values, { steps, times }) }));
}

const seriesArbitrary = fc
  .constantFrom(...KINDS)
  .chain((kind) =>
    fc.record({ kind: fc.constant(kind), written: fc.array(pieceArbitrary(kind), { maxLength: 10 }) }),
  );

function piecesOf(written: readonly Written[]): Piece[] {
  let firstOrdinal = 0;
  return written.map(({ points: all }) => {
    const piece = { points: all, firstOrdinal };
    firstOrdinal += all.count;
    return piece;
  });
}

/** As in a store: the summary is recomputed when earlier points became replaced. */
function take(kind: SeriesKind, written: readonly Written[]): SeriesState {
  const state = newSeriesState(kind);
  written.forEach(({ writer, points: all }, i) => {
    if (addPoints(state, all, writer)) summarize(state, piecesOf(written.slice(0, i + 1)));
  });
  return state;
}

function naiveOf(kind: SeriesKind, written: readonly Written[]): NaiveSeries {
  const naive = new NaiveSeries(kind);
  for (const { writer, points: all } of written) naive.add(String(writer), all);
  return naive;
}

describe("the state of a series", () => {
  it("V7 O2 O3 summarizes the visible points of any writers, in any order", () => {
    fc.assert(
      fc.property(seriesArbitrary, ({ kind, written }) => {
        expect(take(kind, written).summary).toEqual(naiveOf(kind, written).summary());
      }),
      { numRuns: dose(500, 5_000) },
    );
  });

  it("O2 O3 marks exactly the points that a later writer went back behind", () => {
    fc.assert(
      fc.property(seriesArbitrary, ({ kind, written }) => {
        const thresholds = replacementThresholds(take(kind, written));
        const naive = naiveOf(kind, written);
        const marks = piecesOf(written).flatMap(({ points: all, firstOrdinal }) =>
          Array.from(markReplaced(all, firstOrdinal, thresholds) ?? new Uint8Array(all.count)),
        );
        expect(marks).toEqual(naive.points.map((_, at) => Number(naive.isReplaced(at))));
      }),
      { numRuns: dose(500, 5_000) },
    );
  });

  it("V7 does not depend on how points are cut into pieces", () => {
    const first = (all: Points, count: number): Points => ({
      count,
      steps: all.steps?.subarray(0, count),
      times: all.times?.subarray(0, count),
      nanos: undefined,
      values: { kind: all.values.kind, data: all.values.data.slice(0, count) } as Values,
    });
    const rest = (all: Points, from: number): Points => ({
      count: all.count - from,
      steps: all.steps?.subarray(from),
      times: all.times?.subarray(from),
      nanos: undefined,
      values: { kind: all.values.kind, data: all.values.data.slice(from) } as Values,
    });
    fc.assert(
      fc.property(seriesArbitrary, fc.nat(6), ({ kind, written }, at) => {
        const cut = written.flatMap(({ writer, points: all }) => {
          const place = Math.min(at, all.count);
          return [
            { writer, points: first(all, place) },
            { writer, points: rest(all, place) },
          ];
        });
        const whole = take(kind, written);
        const parts = take(kind, cut);
        expect(parts.summary).toEqual(whole.summary);
        expect({ ...parts, writers: [] }).toEqual({ ...whole, writers: [] });
      }),
    );
  });

  it("keeps the extent of all points, also of replaced ones", () => {
    fc.assert(
      fc.property(seriesArbitrary, ({ kind, written }) => {
        const state = take(kind, written);
        const all = naiveOf(kind, written).points;
        const steps = all.flatMap(({ step }) => (step === undefined ? [] : [step]));
        const times = all.flatMap(({ timeUs }) => (timeUs === undefined ? [] : [timeUs]));
        const low = (values: number[]) => (values.length === 0 ? NaN : Math.min(...values));
        const high = (values: number[]) => (values.length === 0 ? NaN : Math.max(...values));
        expect(state).toMatchObject({
          total: all.length,
          stepMin: low(steps),
          stepMax: high(steps),
          timeMin: low(times),
          timeMax: high(times),
        });
      }),
    );
  });

  it("V2 V7 distinguishes integers that share a double", () => {
    const data = BigInt64Array.of(2n ** 53n + 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 53n + 1n);
    const state = take("integer", [{ writer: 0, points: points({ kind: "integer", data }) }]);
    expect(state.summary.min).toMatchObject({ integer: 2n ** 53n });
    expect(state.summary.max).toMatchObject({ integer: 2n ** 53n + 1n });
  });

  it("V7 leaves unreadable points out of the summary", () => {
    const written = [
      {
        writer: 0,
        points: points(
          { kind: "number", data: Float64Array.of(1, 2, 3) },
          { steps: Float64Array.of(0, 1, 2) },
        ),
      },
      {
        writer: 0,
        points: points({ kind: "number", data: Float64Array.of(4, 5) }, { steps: Float64Array.of(3, 4) }),
      },
      {
        writer: 1,
        points: points({ kind: "number", data: Float64Array.of(6) }, { steps: Float64Array.of(4) }),
      },
    ];
    const state = take("number", written);
    summarize(state, piecesOf(written).slice(1));
    expect(state.summary).toMatchObject({ count: 2, replacedCount: 1, sum: 10, first: { step: 3 } });
  });

  it("notices a rewind only when there is something to replace", () => {
    const at = (...steps: number[]) =>
      points({ kind: "number", data: new Float64Array(steps.length) }, { steps: Float64Array.from(steps) });
    const state = newSeriesState("number");
    expect(addPoints(state, at(1, 2, 3), 0)).toBe(false);
    expect(addPoints(state, at(2), 0)).toBe(false);
    expect(addPoints(state, at(4), 1)).toBe(false);
    expect(addPoints(state, at(), 2)).toBe(false);
    expect(addPoints(state, at(4), 2)).toBe(true);
    expect(addPoints(state, at(5), 2)).toBe(false);
    expect(addPoints(state, at(0), 0)).toBe(false);
    expect(addPoints(state, at(3), 2)).toBe(true);
    expect(state.writers.map(({ writer }) => writer)).toEqual([0, 1, 2]);
  });
});
