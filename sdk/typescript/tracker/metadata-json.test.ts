import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readMetadata, writeMetadata } from "./metadata-json.ts";

const roundTrip = (value: unknown) => readMetadata(writeMetadata(value).json);

describe("metadata as JSON text", () => {
  it("X1 returns every number as it was, bit for bit", () => {
    fc.assert(
      fc.property(fc.oneof(fc.double(), fc.maxSafeInteger()), (number) => {
        expect(Object.is(roundTrip(number), number)).toBe(true);
      }),
    );
    for (const number of [0, -0, 1e20, 1e21, 2 ** 53, -(2 ** 53), 5e-324, NaN, Infinity, -Infinity]) {
      expect(roundTrip(number)).toBe(number);
    }
  });

  it("X1 returns a large integer as a bigint and a small one as a number", () => {
    expect(roundTrip(9_007_199_254_740_993n)).toBe(9_007_199_254_740_993n);
    expect(roundTrip(-(10n ** 40n))).toBe(-(10n ** 40n));
    expect(roundTrip(7n)).toBe(7);
    expect(readMetadata("9007199254740992")).toBe(9_007_199_254_740_992n);
    expect(readMetadata("-0")).toBe(0);
    expect(readMetadata("1.0")).toBe(1);
  });

  it("X1 returns nested values", () => {
    const anything = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(anything, (value) => {
        expect(roundTrip(value)).toEqual(value);
      }),
    );
    expect(roundTrip(new Map([["a", new Set([1, NaN])]]))).toEqual({ a: [1, NaN] });
    expect(roundTrip(new Float32Array([0.5, 2]))).toEqual([0.5, 2]);
    expect(roundTrip(new Date(0))).toBe("1970-01-01T00:00:00.000Z");
  });

  it("X1 keeps a key __proto__ a key", () => {
    const value = readMetadata('{"__proto__":{"polluted":true},"constructor":1}') as object;
    expect(Object.keys(value)).toEqual(["__proto__", "constructor"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(writeMetadata(value).json).toBe('{"__proto__":{"polluted":true},"constructor":1}');
  });

  it("X2 converts values that are not JSON to text, and names their type", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const hostile = {
      get value(): never {
        throw new Error("no");
      },
      toString(): never {
        throw new Error("no");
      },
    };
    expect(writeMetadata(undefined)).toEqual({ json: '"undefined"', textOf: "undefined" });
    expect(writeMetadata(Symbol("s"))).toEqual({ json: '"Symbol(s)"', textOf: "symbol" });
    expect(writeMetadata(() => 1).textOf).toBe("function");
    expect(writeMetadata({ f: () => 1 })).toEqual({ json: '"[object Object]"', textOf: "Object" });
    expect(writeMetadata(cycle).textOf).toBe("Array");
    expect(writeMetadata(hostile)).toEqual({ json: '"[object Object]"', textOf: "Object" });
  });

  it.each([
    "",
    "{",
    "[1,]",
    '{"a"}',
    '{"a":1,}',
    "01",
    "1.",
    "+1",
    "nan",
    "-NaN",
    "'a'",
    '"\n"',
    "1 2",
    '"\\x"',
    "[".repeat(600),
  ])("X1 refuses %j, which is not JSON", (text) => {
    expect(() => readMetadata(text)).toThrow(SyntaxError);
  });
});
