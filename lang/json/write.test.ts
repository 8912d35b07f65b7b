import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dose } from "../../tools/dose.ts";
import { canonicalJson } from "./canonical.ts";
import { parseJson } from "./parse.ts";
import { jsonValue, NotJson, writeJson, type JsonValue } from "./write.ts";

const write = (value: unknown) => writeJson(value, { depthMax: 32 });
const read = (text: string) => jsonValue(parseJson(text));

describe("values as JSON text and back", () => {
  test("X1, C2: every value comes back as it was", () => {
    const large = fc.bigInt().filter((integer) => !Number.isSafeInteger(Number(integer)));
    const { value } = fc.letrec<{ value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small", withCrossShrink: true },
        fc.oneof(
          fc.double(),
          fc.maxSafeInteger(),
          large,
          fc.boolean(),
          fc.constant(null),
          fc.oneof(fc.string(), fc.constantFrom("é😀", "\u0000\u2028", '\\"')),
          fc.constantFrom(-0, 1e20, 1e21, 2 ** 53, -(2 ** 53), 5e-324, Infinity, -Infinity),
        ),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor")), tie("value"), {
          maxKeys: 4,
          noNullPrototype: true,
        }),
      ),
    }));
    fc.assert(
      fc.property(value, (given) => {
        const text = write(given);
        expect(read(text)).toEqual(given);
        expect(read(canonicalJson(text, "value"))).toEqual(given);
      }),
      { numRuns: dose(500, 5_000) },
    );
  });

  test("X1 integers are numbers up to 2^53 and bigint above, and the integer -0 is 0", () => {
    expect(["1.0", "-0", "9007199254740991", "9007199254740992", "1e3"].map(read)).toEqual([
      1,
      0,
      9_007_199_254_740_991,
      9_007_199_254_740_992n,
      1000,
    ]);
    expect(write(1e20)).toBe("100000000000000000000.0");
    expect(write(2 ** 53)).toBe("9007199254740992.0");
  });

  test("toJSON comes first", () => {
    const list = Object.assign([1], { toJSON: () => ({ a: new Date(0) }) });
    expect(write(list)).toBe('{"a":"1970-01-01T00:00:00.000Z"}');
  });

  test("the first of equal keys counts, and half a surrogate pair is U+FFFD", () => {
    const keys = new Map<unknown, unknown>([
      [1, "a"],
      ["1", "b"],
      ["\ud800", "\udc00"],
    ]);
    expect(write(keys)).toBe('{"1":"a","\ufffd":"\ufffd"}');
  });

  test("a value without JSON form is refused, or left out on request", () => {
    for (const value of [
      undefined,
      () => 1,
      Symbol("x"),
      [undefined],
      { a: () => 1 },
      new DataView(new ArrayBuffer(1)),
    ]) {
      expect(() => write(value)).toThrow(NotJson);
    }
    expect(writeJson([undefined, { a: Symbol("x"), b: 1 }], { depthMax: 32, omits: true })).toBe(
      '[null,{"b":1}]',
    );
  });

  test("cycles and deep nesting are refused", () => {
    const cycle: unknown[] = [];
    cycle.push({ cycle });
    expect(() => write(cycle)).toThrow("it contains itself");
    const endless = { toJSON: () => ({ ...endless }) };
    expect(() => write(endless)).toThrow("nested deeper than 32");
    const twice = [1];
    expect(write([twice, twice])).toBe("[[1],[1]]");
  });
});
