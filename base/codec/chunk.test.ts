import { crc32, zstdCompressSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  CHUNK_POINTS_MAX,
  CHUNK_TEXT_BYTES_MAX,
  decodeChunk,
  encodeChunk,
  readChunkHeader,
} from "./chunk.ts";
import { mixSeries } from "./testing/data-mix.ts";
import { CodecError } from "./error.ts";
import { bitsOf, pointsOf, pointsOfUpTo } from "./testing/hostile-points.ts";
import { kinds } from "./kind.ts";
import type { Points, Values } from "./points.ts";
import { dose } from "../../tools/dose.ts";

function valuesOnly(values: Values): Points {
  return { count: values.data.length, steps: undefined, times: undefined, nanos: undefined, values };
}

function numbersOnly(data: Iterable<number>): Points {
  return valuesOnly({ kind: "number", data: Float64Array.from(data) });
}

function expectRoundTrip(points: Points): Uint8Array {
  const bytes = encodeChunk(points);
  expect(bitsOf(decodeChunk(bytes))).toEqual(bitsOf(points));
  const all = { steps: true, times: true, values: true };
  expect(bitsOf(decodeChunk(bytes, { ...all, reuse: true }))).toEqual(bitsOf(points));
  return bytes;
}

const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

describe("round trip", () => {
  test.each(kinds)("%s points come back bit for bit", (kind) => {
    fc.assert(
      fc.property(pointsOfUpTo(kind, 300), (points) => {
        expectRoundTrip(points);
      }),
      { numRuns: dose(150, 2_000) },
    );
  });

  test.each(kinds)("65,535 %s points come back bit for bit", (kind) => {
    for (const points of fc.sample(pointsOf(kind, CHUNK_POINTS_MAX), { numRuns: 2, seed: 3 }))
      expectRoundTrip(points);
  });

  test("the realistic mix comes back bit for bit", () => {
    for (let index = 0; index < 10; index++) expectRoundTrip(mixSeries(index, 4096, index));
  });

  test("columns with outliers, of many sizes and in every direction come back", () => {
    expectRoundTrip({
      ...numbersOnly(range(20_000).map((i) => (i % 1000 === 999 ? 1e300 : Math.fround(Math.sin(i))))),
      steps: Float64Array.from(range(20_000), (i) => (i % 7) * 1e9 - i),
      times: Float64Array.from(range(20_000), (i) => i * 1000 + (i === 5000 ? 2 ** 52 : 0)),
    });
  });

  test("the result is all of its ArrayBuffer", () => {
    const bytes = encodeChunk(mixSeries(0, 100, 1));
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  test("a Buffer with an odd offset decodes as well", () => {
    const points = mixSeries(0, 100, 1);
    const bytes = Buffer.concat([Uint8Array.of(0), encodeChunk(points)]).subarray(1);
    expect(bitsOf(decodeChunk(bytes))).toEqual(bitsOf(points));
  });
});

describe("numbers keep their bits", () => {
  const canonicalNan = Float64Array.of(NaN);
  const hostile = new BigUint64Array([
    0x7ff8000000000000n,
    0xfff8000000000000n,
    0x7ff0000000000001n,
    0x7ff4dead0000beefn,
    0xffffffffffffffffn,
    0xfff7fffffff7ffffn,
    0x8000000000000000n,
    0n,
    1n,
    0x800fffffffffffffn,
    0x7ff0000000000000n,
    0xfff0000000000000n,
  ]);

  test("every NaN, alone, repeated and among floats, decimals and integers", () => {
    for (const bits of hostile) {
      const one = new Float64Array(BigUint64Array.of(bits).buffer);
      for (const others of [[], [1.5, 2.25], [0.1, 0.2], [7, 8], [Math.fround(0.1), 1 / 3]]) {
        const data = new Float64Array(others.length + 1);
        data.set(others);
        data.set(one, others.length);
        expectRoundTrip(valuesOnly({ kind: "number", data }));
      }
      expectRoundTrip(
        valuesOnly({ kind: "number", data: new Float64Array(new BigUint64Array(50).fill(bits).buffer) }),
      );
    }
    expectRoundTrip(valuesOnly({ kind: "number", data: new Float64Array(hostile.buffer) }));
    expectRoundTrip(numbersOnly([...canonicalNan, 1.5, Infinity, -Infinity, -0, 0.25]));
  });

  test("-0 among integers and decimals", () => {
    expectRoundTrip(numbersOnly([1, 2, -0, 3]));
    expectRoundTrip(numbersOnly([0.1, -0, 0.3]));
    expectRoundTrip(numbersOnly([-0, -0]));
  });
});

describe("size", () => {
  const bytesPerPoint = (points: Points): number => expectRoundTrip(points).length / points.count;
  const noise = (i: number): number => ((Math.imul(i, 0x9e3779b1) >>> 0) % 1000) / 1000;

  test.each([
    ["constants", 0.02, (): number => Math.PI],
    ["a counter", 0.02, (i: number): number => i * 4096 + 1e12],
    ["integers", 1.3, (i: number): number => Math.floor(noise(i) * 256)],
    ["percentages", 1.3, (i: number): number => Math.round(noise(i) * 1000) / 10],
    ["small decimals", 1.4, (i: number): number => Math.round(noise(i) * 1000) / 1e9],
    ["six decimals", 1.6, (i: number): number => (1000 + Math.round(noise(i) * 2000)) / 1e6],
    ["rounded float32", 1.6, (i: number): number => Math.fround(Math.round(noise(i) * 10_000) / 10_000)],
    ["halves and quarters", 1.2, (i: number): number => Math.round((1 + noise(i)) * 64) / 64],
    ["bfloat16", 1.6, (i: number): number => toBfloat16(Math.exp(9 * noise(i)) / 3000)],
    ["negative float32", 3.1, (i: number): number => Math.fround(-Math.exp(noise(i)))],
  ])("%s take at most %f bytes a point", (_, bytesMax, value) => {
    expect(bytesPerPoint(numbersOnly(range(4096).map(value)))).toBeLessThan(bytesMax);
  });

  test("the realistic mix takes at most 3.0 bytes a point", () => {
    const sizes = range(10).map((index) => encodeChunk(mixSeries(index, 4096, 1)).length);
    expect(sizes.reduce((sum, size) => sum + size, 0) / 40_960).toBeLessThan(3.0);
  });

  test("one point takes at most 40 bytes", () => {
    expect(encodeChunk(mixSeries(0, 1, 1)).length).toBeLessThanOrEqual(40);
  });
});

function toBfloat16(number: number): number {
  const word = new Uint32Array(Float32Array.of(number).buffer);
  word[0]! &= 0xffff0000;
  return new Float32Array(word.buffer)[0]!;
}

describe("wanted columns", () => {
  test.each(kinds)("only those of %s points are decoded", (kind) => {
    fc.assert(
      fc.property(
        pointsOfUpTo(kind, 30),
        fc.record({ steps: fc.boolean(), times: fc.boolean(), values: fc.boolean() }, { requiredKeys: [] }),
        (points, want) => {
          const decoded = decodeChunk(encodeChunk(points), want);
          const whole = decodeChunk(encodeChunk(points));
          expect(bitsOf(decoded)).toEqual(
            bitsOf({
              count: points.count,
              steps: want.steps === true ? whole.steps : undefined,
              times: want.times === true ? whole.times : undefined,
              nanos: want.times === true ? whole.nanos : undefined,
              values: (want.values === true
                ? whole.values
                : { ...whole.values, data: whole.values.data.slice(0, 0) }) as Values,
            }),
          );
        },
      ),
    );
  });
});

describe("header", () => {
  test("has the kind, the count and the ranges", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds).chain((kind) => pointsOfUpTo(kind, 20)),
        (points) => {
          const { steps, times } = points.count === 0 ? { steps: undefined, times: undefined } : points;
          expect(readChunkHeader(encodeChunk(points))).toEqual({
            version: 1,
            kind: points.values.kind,
            count: points.count,
            stepMin: steps === undefined ? undefined : Math.min(...steps),
            stepMax: steps === undefined ? undefined : Math.max(...steps),
            timeMin: times === undefined ? undefined : Math.min(...times),
            timeMax: times === undefined ? undefined : Math.max(...times),
          });
        },
      ),
    );
  });

  test("of another version is refused by name", () => {
    const bytes = encodeChunk(numbersOnly([1]));
    bytes[2] = 2;
    expect(() => decodeChunk(bytes)).toThrow("version 2");
  });
});

describe("layout", () => {
  test("is the one in docs/formats/chunk.md", () => {
    const one: Points = { ...numbersOnly([1]), steps: Float64Array.of(7), times: Float64Array.of(1000) };
    expect(Buffer.from(encodeChunk(one)).toString("hex")).toBe(
      "436b01 2eac1405 6c 0100 0e d00f 03 00 00 00 03 00 00 00 00 000000000000f03f".replaceAll(" ", ""),
    );
  });
});

describe("refused", () => {
  test("too many points, too much text, steps that are not integers", () => {
    expect(() => encodeChunk(numbersOnly(new Float64Array(CHUNK_POINTS_MAX + 1)))).toThrow(CodecError);
    const text = "x".repeat(CHUNK_TEXT_BYTES_MAX / 4);
    expect(() => encodeChunk(valuesOnly({ kind: "text", data: [text, text, text, text, "x"] }))).toThrow(
      CodecError,
    );
    expect(() => encodeChunk(valuesOnly({ kind: "text", data: Array(1000).fill(text) }))).toThrow(CodecError);
    for (const step of [NaN, 0.5, Infinity, 2 ** 53 + 2]) {
      expect(() => encodeChunk({ ...numbersOnly([1, 2]), steps: Float64Array.of(0, step) })).toThrow(
        CodecError,
      );
    }
    expect(() => encodeChunk({ ...numbersOnly([1, 2]), steps: Float64Array.of(0) })).toThrow(CodecError);
  });

  test("an encoding that was refused leaves nothing behind for the next", () => {
    const text = "x".repeat(CHUNK_TEXT_BYTES_MAX);
    expect(() => encodeChunk(valuesOnly({ kind: "text", data: [text, "y"] }))).toThrow(CodecError);
    expectRoundTrip(mixSeries(0, 100, 1));
  });
});

describe("damage", () => {
  const samples = [
    ...kinds.flatMap((kind) => fc.sample(pointsOfUpTo(kind, 20), { numRuns: 5, seed: 5 })),
    mixSeries(0, 120, 1),
    mixSeries(8, 120, 1),
    valuesOnly({ kind: "text", data: range(50).map((i) => `epoch ${i % 3}`) }),
  ];

  test("any byte changed in any bit is refused", () => {
    for (const points of samples) {
      const bytes = encodeChunk(points);
      for (let at = 0; at < bytes.length; at++) {
        for (const flip of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
          const damaged = bytes.slice();
          damaged[at]! ^= flip;
          expect(() => decodeChunk(damaged)).toThrow(CodecError);
          expect(() => readChunkHeader(damaged)).toThrow(CodecError);
        }
      }
    }
  });

  test("a chunk that is cut off anywhere, or longer, is refused", () => {
    for (const points of samples) {
      const bytes = encodeChunk(points);
      for (let size = 0; size < bytes.length; size++) {
        expect(() => decodeChunk(bytes.slice(0, size))).toThrow(CodecError);
      }
      expect(() => decodeChunk(Buffer.concat([bytes, Uint8Array.of(0)]))).toThrow(CodecError);
    }
  });

  test("with a checksum made to match, a CodecError or points of the right shape", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...samples),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(3),
        (points, changes, cut) => {
          const bytes = encodeChunk(points);
          const damaged = bytes.slice(0, Math.max(7, bytes.length - cut));
          for (const [at, byte] of changes)
            if (damaged.length > 7) damaged[7 + (at % (damaged.length - 7))] = byte;
          expectErrorOrShape(sealed(damaged));
        },
      ),
      { numRuns: dose(1_000, 10_000) },
    );
  });

  test("what decompresses to more than it says is refused", () => {
    // Texts: form, size of the lengths, lengths of one text of one unit, size, frame.
    const frame = zstdCompressSync(new Uint8Array(50 << 20));
    const body = (size: number): Buffer => Buffer.from([3, 1, 0, 0, 3, 0, 0, 0, 0, 1, 1, ...varint(size)]);
    const chunk = (size: number): Uint8Array =>
      sealed(Buffer.concat([Buffer.from("436b0100000000", "hex"), body(size), frame]));
    expect(() => decodeChunk(chunk(8192))).toThrow("damaged");
    expect(() => decodeChunk(chunk(CHUNK_TEXT_BYTES_MAX + 1))).toThrow("more than");
  });
});

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >>> 7)];
}

function sealed(chunk: Uint8Array): Uint8Array {
  new DataView(chunk.buffer, chunk.byteOffset).setUint32(3, crc32(chunk.subarray(7)), true);
  return chunk;
}

function expectErrorOrShape(bytes: Uint8Array): void {
  let points: Points;
  try {
    points = decodeChunk(bytes);
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(CodecError);
    return;
  }
  for (const column of [points.steps, points.times, points.nanos, points.values.data]) {
    if (column !== undefined) expect(column.length).toBe(points.count);
  }
}
