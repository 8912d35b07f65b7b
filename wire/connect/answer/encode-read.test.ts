import { fromBinary } from "@bufbuild/protobuf";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadSeriesResult, SeriesData, SeriesOwner } from "#core/ports/point-store.ts";
import { Encoding, ReadSeriesResponseSchema } from "#proto/cairn/v1/metric_pb.ts";
import { encodeRead } from "./encode-read.ts";
import { fromReadResult } from "../map/series.ts";
import { dose } from "../../../tools/dose.ts";

const doubles = (count: number) =>
  fc.array(fc.double(), { minLength: count, maxLength: count }).map((values) => Float64Array.from(values));

const exact = fc.nat(20).chain((count) =>
  fc.record({
    form: fc.constant("exact" as const),
    points: fc.record({
      count: fc.constant(count),
      steps: fc.option(doubles(count), { nil: undefined }),
      times: fc.option(doubles(count), { nil: undefined }),
      nanos: fc.option(fc.constant(new Uint16Array(count).fill(7)), { nil: undefined }),
      values: fc.oneof(
        doubles(count).map((data) => ({ kind: "number" as const, data })),
        fc.constant({ kind: "bool" as const, data: new Uint8Array(count).fill(1) }),
        fc.constant({ kind: "integer" as const, data: new BigInt64Array(count).fill(-(2n ** 63n)) }),
        fc
          .array(fc.string({ unit: "binary" }), { minLength: count, maxLength: count })
          .map((data) => ({ kind: "text" as const, data })),
      ),
    }),
    replaced: fc.option(fc.constant(new Uint8Array(count).fill(1)), { nil: undefined }),
  }),
);

const band = fc.nat(20).chain((count) => {
  const column = doubles(count);
  return fc.record({
    form: fc.constant("band" as const),
    bucket: column,
    count: column,
    min: column,
    max: column,
    first: column,
    last: column,
    mean: column,
    nanCount: column,
  });
});

const series: fc.Arbitrary<SeriesData> = fc
  .record({
    owner: fc.oneof(
      fc.record({ runId: fc.string() }),
      fc.record({ host: fc.record({ namespace: fc.string(), name: fc.string({ unit: "grapheme" }) }) }),
    ),
    key: fc.string({ unit: "grapheme" }),
    labels: fc.uniqueArray(fc.tuple(fc.string(), fc.string({ unit: "grapheme" })), {
      selector: ([name]) => name,
    }),
    pointCount: fc.maxSafeNat(),
    data: fc.oneof(exact, band),
  })
  .map(({ owner, ...one }) => {
    const kind = one.data.form === "exact" ? one.data.points.values.kind : "number";
    return Object.assign(one, { kind }, owner as SeriesOwner);
  });

const result: fc.Arbitrary<ReadSeriesResult> = fc.record({
  series: fc.array(series, { maxLength: 4 }),
  grid: fc.option(fc.record({ start: fc.double(), width: fc.double() }), { nil: undefined }),
});

describe("encodeRead", () => {
  it("W2 writes the same message as the generic writer", () => {
    fc.assert(
      fc.property(result, fc.string(), (read, position) => {
        const bytes = new Uint8Array(Buffer.concat(encodeRead(read, position)));
        const expected = fromReadResult(read, Encoding.BYTES);
        expected.position = position;
        expect(fromBinary(ReadSeriesResponseSchema, bytes)).toEqual(expected);
      }),
      { numRuns: dose(100, 1_000) },
    );
  });
});
