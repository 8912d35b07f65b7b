import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readBlock, skipBlock, writeBlock } from "./block.ts";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter } from "./byte-writer.ts";
import { CodecError } from "./error.ts";
import { bitsOf, pointsOf, pointsOfUpTo } from "./testing/hostile-points.ts";
import { kinds } from "./kind.ts";
import type { Points } from "./points.ts";
import { dose } from "../../tools/dose.ts";

const writer = new ByteWriter(1);

function toBytes(...blocks: Points[]): Uint8Array {
  writer.reset();
  for (const points of blocks) writeBlock(writer, points);
  return writer.finish();
}

function numbers(steps: number[], times: number[], data: number[]): Points {
  return {
    count: data.length,
    steps: Float64Array.from(steps),
    times: Float64Array.from(times),
    nanos: undefined,
    values: { kind: "number", data: Float64Array.from(data) },
  };
}

describe("round trip", () => {
  test.each(kinds)("%s points come back bit for bit", (kind) => {
    fc.assert(
      fc.property(pointsOfUpTo(kind, 60), (points) => {
        const reader = new ByteReader(toBytes(points));
        expect(bitsOf(readBlock(reader))).toEqual(bitsOf(points));
        expect(reader.remaining).toBe(0);
      }),
      { numRuns: dose(150, 2_000) },
    );
  });

  test.each(kinds)("65,535 %s points come back bit for bit", (kind) => {
    const [points] = fc.sample(pointsOf(kind, 65_535), { numRuns: 1, seed: 7 });
    expect(bitsOf(readBlock(new ByteReader(toBytes(points!))))).toEqual(bitsOf(points!));
  });

  test("read points do not change while thousands more are read", () => {
    const blocks = fc.sample(
      fc.constantFrom(...kinds).chain((kind) => pointsOfUpTo(kind, 60)),
      {
        numRuns: 3000,
        seed: 13,
      },
    );
    const reader = new ByteReader(toBytes(...blocks));
    const read = blocks.map(() => readBlock(reader));
    for (const [index, points] of blocks.entries()) expect(bitsOf(read[index]!)).toEqual(bitsOf(points));
  });
});

describe("layout", () => {
  test("is the one in docs/formats/log-body.md", () => {
    const hex = (points: Points): string => Buffer.from(toBytes(points)).toString("hex");
    const bare = (text: string): string => text.replaceAll(" ", "");
    expect(hex(numbers([7], [1_700_000_000_000_000], [1]))).toBe(
      bare("13 0c 01 0e 8080f28183898506 000000000000f03f"),
    );
    const rising = [1, 2, 3, 4, 5, 6, 7];
    const times = [0, 1000, 2000, 3000, 5000, 6000, 7000];
    expect(hex(numbers(rising, times, [0, 0, 0, 0, 0, 0, 0]))).toBe(
      bare("ff 46000000 0c 07 00 02 02 02 00 d00f 0000020100") + "00".repeat(56),
    );
  });
});

describe("many blocks", () => {
  test("can be skipped and read", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...kinds).chain((kind) => pointsOfUpTo(kind, 20))), (blocks) => {
        const bytes = toBytes(...blocks);
        const skipping = new ByteReader(bytes);
        const reading = new ByteReader(bytes);
        for (const _ of blocks) {
          skipBlock(skipping);
          readBlock(reading);
          expect(skipping.position).toBe(reading.position);
        }
        expect(skipping.remaining).toBe(0);
      }),
    );
  });
});

describe("refused", () => {
  test.each([NaN, Infinity, 0.5, 2 ** 53 + 2])("a step of %s, and the writer is as before", (step) => {
    writer.reset();
    writer.u8(1);
    expect(() => writeBlock(writer, numbers([0, step], [0, 0], [0, 0]))).toThrow(CodecError);
    expect(() => writeBlock(writer, numbers([step], [0], [0]))).toThrow(CodecError);
    expect(writer.finish()).toEqual(Uint8Array.of(1));
  });

  test("columns of different lengths", () => {
    expect(() => toBytes({ ...numbers([1], [1], [1]), count: 2 })).toThrow(CodecError);
    expect(() => toBytes({ ...numbers([1], [1], [1]), steps: new Float64Array(2) })).toThrow(CodecError);
  });

  test("an invalid bool, and an invalid nanosecond", () => {
    const points = numbers([1], [1], [1]);
    expect(() => toBytes({ ...points, values: { kind: "bool", data: Uint8Array.of(2) } })).toThrow(
      CodecError,
    );
    expect(() => toBytes({ ...points, nanos: Uint16Array.of(1000) })).toThrow(CodecError);
  });
});

describe("damage", () => {
  const samples = kinds.flatMap((kind) => fc.sample(pointsOfUpTo(kind, 12), { numRuns: 6, seed: 11 }));

  test("a block that is cut off anywhere is refused", () => {
    for (const points of samples) {
      const bytes = toBytes(points);
      for (let size = 0; size < bytes.length; size++) {
        expect(() => readBlock(new ByteReader(bytes.slice(0, size)))).toThrow(CodecError);
        expect(() => skipBlock(new ByteReader(bytes.slice(0, size)))).toThrow(CodecError);
      }
    }
  });

  test("any other byte anywhere gives a CodecError or points of the right shape", () => {
    for (const points of samples) {
      const bytes = toBytes(points);
      for (let at = 0; at < bytes.length; at++) {
        for (const flip of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
          const damaged = bytes.slice();
          damaged[at]! ^= flip;
          expectErrorOrShape(() => readBlock(new ByteReader(damaged)));
        }
      }
    }
  });

  test("a huge count allocates nothing", () => {
    for (const head of [0x0c, 0x0d, 0x0e, 0x0f]) {
      const bytes = Uint8Array.of(9, head, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10);
      expect(() => readBlock(new ByteReader(bytes))).toThrow(CodecError);
    }
  });
});

function expectErrorOrShape(read: () => Points): void {
  let points: Points;
  try {
    points = read();
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(CodecError);
    return;
  }
  for (const column of [points.steps, points.times, points.nanos, points.values.data]) {
    if (column !== undefined) expect(column.length).toBe(points.count);
  }
}
