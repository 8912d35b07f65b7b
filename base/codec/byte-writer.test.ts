import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ByteReader } from "./byte-reader.ts";
import { ByteWriter, INTEGER_MAX } from "./byte-writer.ts";
import { CodecError } from "./error.ts";

const writer = new ByteWriter(1);

function written(write: (to: ByteWriter) => void): Uint8Array {
  writer.reset();
  write(writer);
  return writer.finish();
}

function hex(write: (to: ByteWriter) => void): string {
  return Buffer.from(written(write)).toString("hex");
}

const edges = [0, 1, 63, 64, 127, 128, 2 ** 14, 2 ** 28 - 1, 2 ** 28, 2 ** 31, 2 ** 32 - 1, 2 ** 32].concat([
  2 ** 35,
  2 ** 49,
  2 ** 53 - 1,
  2 ** 53,
]);
const unsigned = fc.oneof(fc.constantFrom(...edges), fc.integer({ min: 0, max: INTEGER_MAX }));
const signed = fc
  .tuple(unsigned, fc.boolean())
  .map(([value, negative]) => (negative && value > 0 ? -value : value));

describe("varint", () => {
  test("comes back, up to 2^53", () => {
    fc.assert(
      fc.property(unsigned, (value) => {
        const reader = new ByteReader(written((to) => to.varint(value)));
        expect(reader.varint()).toBe(value);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  test("is LEB128", () => {
    expect(hex((to) => to.varint(300))).toBe("ac02");
    expect(hex((to) => to.varint(2 ** 53))).toBe("8080808080808010");
  });

  test.each([-1, 1.5, NaN, Infinity, 2 ** 53 + 2])("refuses %s", (value) => {
    expect(() => written((to) => to.varint(value))).toThrow(CodecError);
  });

  test.each(["8180808080808010", "8080808080808020", "ffffffffffffff7f", "808080808080808001", "80", ""])(
    "beyond 2^53 or cut off is refused: %s",
    (text) => {
      expect(() => new ByteReader(Buffer.from(text, "hex")).varint()).toThrow(CodecError);
    },
  );
});

describe("zigzag", () => {
  test("comes back, down to -2^53 and up to 2^53", () => {
    fc.assert(
      fc.property(signed, (value) => {
        const reader = new ByteReader(written((to) => to.zigzag(value)));
        expect(reader.zigzag()).toBe(value);
        expect(reader.remaining).toBe(0);
      }),
    );
  });

  test("is the zigzag code as a varint", () => {
    fc.assert(
      fc.property(signed, (value) => {
        let rest = value < 0 ? -2n * BigInt(value) - 1n : 2n * BigInt(value);
        const bytes: number[] = [];
        for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128);
        bytes.push(Number(rest));
        expect(hex((to) => to.zigzag(value))).toBe(Buffer.from(bytes).toString("hex"));
      }),
    );
  });

  test("beyond 2^53 is refused", () => {
    expect(() => written((to) => to.zigzag(-(2 ** 53) - 2))).toThrow(CodecError);
    // 2^54 + 2 and 2^54 + 1 are the codes of 2^53 + 1 and -(2^53 + 1).
    expect(() => new ByteReader(Buffer.from("8280808080808020", "hex")).zigzag()).toThrow(CodecError);
    expect(() => new ByteReader(Buffer.from("8180808080808020", "hex")).zigzag()).toThrow(CodecError);
  });
});

describe("fixed sizes", () => {
  test("u8, u32 and f64 come back", () => {
    fc.assert(
      fc.property(fc.nat(255), fc.nat(0xffffffff), fc.double(), (byte, word, number) => {
        const reader = new ByteReader(
          written((to) => {
            to.u8(byte);
            to.u32(word);
            to.f64(number);
          }),
        );
        expect([reader.u8(), reader.u32(), reader.f64()]).toEqual([byte, word, number]);
      }),
    );
  });
});

describe("text", () => {
  test("comes back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        expect(new ByteReader(written((to) => to.text(text))).text()).toBe(text);
      }),
    );
  });

  test("keeps a byte order mark", () => {
    expect(new ByteReader(written((to) => to.text("\uFEFFa"))).text()).toBe("\uFEFFa");
  });

  test("without UTF-8 is refused", () => {
    expect(() => written((to) => to.text("a\uD800"))).toThrow(CodecError);
  });

  test.each(["02c328", "01ff", "03eda080", "0561"])("bytes that are not UTF-8 are refused: %s", (text) => {
    expect(() => new ByteReader(Buffer.from(text, "hex")).text()).toThrow(CodecError);
  });
});

describe("writer", () => {
  test("finish gives an ArrayBuffer of exactly the size and starts afresh", () => {
    const bytes = written((to) => to.text("x".repeat(1000)));
    expect(bytes.buffer.byteLength).toBe(1002);
    expect(writer.length).toBe(0);
  });
});

describe("reader", () => {
  test("does not read beyond its end, though there are more bytes", () => {
    const reader = new ByteReader(new Uint8Array(16), 2, 5);
    expect(() => reader.u32()).toThrow(CodecError);
    expect(() => reader.f64()).toThrow(CodecError);
    expect(() => reader.take(4)).toThrow(CodecError);
    expect(() => reader.take(-1)).toThrow(CodecError);
    expect(reader.take(3).length).toBe(3);
    expect(() => reader.u8()).toThrow(CodecError);
    expect(() => reader.varint()).toThrow(CodecError);
  });

  test("has no end beyond the bytes", () => {
    expect(() => new ByteReader(new Uint8Array(4), 0, 5)).toThrow(CodecError);
    expect(() => new ByteReader(new Uint8Array(4), 3, 2)).toThrow(CodecError);
  });
});
