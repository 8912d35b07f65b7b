import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Sample, SeriesKind } from "#core/types/series.ts";
import type { SeriesState } from "#core/series/state.ts";
import { decodeState, encodeState, KINDS, summaryStats } from "./state-blob.ts";

const number = fc.double();
const optionalNumber = fc.option(fc.maxSafeInteger(), { nil: undefined });

function sampleArbitrary(kind: SeriesKind): fc.Arbitrary<Sample | undefined> {
  const value: fc.Arbitrary<Pick<Sample, "value" | "text" | "integer">> =
    kind === "integer"
      ? fc
          .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
          .map((integer) => ({ value: Number(integer), integer }))
      : kind === "text"
        ? fc.string({ unit: "grapheme" }).map((text) => ({ value: NaN, text }))
        : number.map((one) => ({ value: one }));
  const sample: fc.Arbitrary<Sample> = fc
    .tuple(optionalNumber, optionalNumber, value)
    .map(([step, timeUs, rest]) => Object.assign({ step, timeUs }, rest));
  return fc.option(sample, { nil: undefined });
}

const stateArbitrary: fc.Arbitrary<SeriesState> = fc.constantFrom(...KINDS).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    total: fc.nat(),
    writers: fc.array(
      fc.record({
        writer: fc.nat(),
        firstOrdinal: fc.nat(),
        minStep: fc.oneof(fc.maxSafeInteger(), fc.constant(Infinity)),
        maxStepBefore: fc.oneof(fc.maxSafeInteger(), fc.constant(-Infinity)),
      }),
      { maxLength: 5 },
    ),
    stepMin: number,
    stepMax: number,
    timeMin: number,
    timeMax: number,
    summary: fc.record({
      count: fc.nat(),
      nanCount: fc.nat(),
      replacedCount: fc.nat(),
      first: sampleArbitrary(kind),
      last: sampleArbitrary(kind),
      min: sampleArbitrary(kind),
      max: sampleArbitrary(kind),
      sum: number,
      sumSquares: number,
    }),
  }),
);

describe("the state of a series as bytes", () => {
  it("is decoded unchanged", () => {
    fc.assert(
      fc.property(stateArbitrary, (state) => {
        expect(decodeState(state.kind, encodeState(state))).toEqual(state);
      }),
      { numRuns: 500 },
    );
  });

  it("returns its numbers without the rest", () => {
    fc.assert(
      fc.property(stateArbitrary, (state) => {
        const { count, nanCount, first, last, min, max, sum } = state.summary;
        const value = (sample: Sample | undefined) => sample?.value ?? NaN;
        expect(summaryStats(encodeState(state))).toEqual([
          count,
          nanCount,
          value(first),
          value(last),
          value(min),
          value(max),
          sum,
          last?.step ?? NaN,
          min?.step ?? NaN,
          max?.step ?? NaN,
        ]);
      }),
    );
  });

  it("D9 detects any flipped bit and any truncation", () => {
    fc.assert(
      fc.property(stateArbitrary, fc.nat(), fc.nat(7), (state, place, bit) => {
        const bytes = Uint8Array.from(encodeState(state));
        const at = place % bytes.length;
        const cut = bytes.slice(0, at);
        bytes[at]! ^= 1 << bit;
        for (const damaged of [bytes, cut]) {
          expect(decodeState(state.kind, damaged)).toBeUndefined();
          expect(summaryStats(damaged)).toBeUndefined();
        }
      }),
    );
  });
});
