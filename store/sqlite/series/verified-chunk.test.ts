import { describe, expect, it } from "vitest";
import { decodeChunk, encodeChunk } from "#base/codec/chunk.ts";
import type { Points } from "#base/codec/points.ts";
import { encodeVerified } from "./verified-chunk.ts";

const numbers: Points = {
  count: 4,
  steps: Float64Array.of(0, 1, 2, 3),
  times: Float64Array.of(1e15, 1e15 + 7, 1e15 + 8, 1e15 + 30),
  nanos: Uint16Array.of(0, 1, 0, 999),
  values: { kind: "number", data: Float64Array.of(-0, Number.NaN, Infinity, 0.1) },
};
const texts: Points = {
  count: 2,
  steps: undefined,
  times: undefined,
  nanos: undefined,
  values: { kind: "text", data: ["a", "\ud800b"] },
};

/** A payload in a NaN, which most programs would not keep. */
function withOddNan(): Points {
  const data = new Float64Array(4);
  new BigUint64Array(data.buffer).set([0x7ff8_0000_0000_0001n, 0xfff0_dead_beef_0000n]);
  return { ...numbers, values: { kind: "number", data } };
}

describe("a chunk that is read back", () => {
  it.each<[string, Points]>([
    ["numbers", numbers],
    ["texts", texts],
    ["odd NaNs", withOddNan()],
    ["none", { ...texts, count: 0, values: { kind: "text", data: [] } }],
  ])("D14 has the points: %s", (_, points) => {
    expect(decodeChunk(encodeVerified(points))).toEqual(decodeChunk(encodeChunk(points)));
  });

  const { steps, times, values } = numbers;
  it.each<[string, Points]>([
    ["steps", { ...numbers, steps: times }],
    ["times", { ...numbers, times: steps }],
    ["nanos", { ...numbers, nanos: undefined }],
    [
      "values",
      { ...numbers, values: { kind: "number", data: Float64Array.of(0, Number.NaN, Infinity, 0.1) } },
    ],
    ["kind", { ...numbers, values: { kind: "bool", data: Uint8Array.of(0, 1, 0, 1) } }],
    [
      "count",
      {
        ...numbers,
        count: 0,
        steps: undefined,
        times: undefined,
        nanos: undefined,
        values: { kind: "number", data: new Float64Array(0) },
      },
    ],
  ])("D14 is encoded again where the %s of the first attempt differ", (_, wrong) => {
    let attempts = 0;
    const chunk = encodeVerified(numbers, (points) => encodeChunk(attempts++ === 0 ? wrong : points));
    expect(attempts).toBe(2);
    expect(decodeChunk(chunk)).toEqual({ ...numbers, steps, times, values });
  });

  it("D14 is refused where no attempt can be read back", () => {
    const wrong = encodeChunk({ ...texts, values: { kind: "text", data: ["a", "c"] } });
    const torn = wrong.subarray(0, wrong.length - 1);
    for (const chunk of [wrong, torn]) {
      expect(() => encodeVerified(texts, () => chunk)).toThrow("not read back");
    }
  });
});
