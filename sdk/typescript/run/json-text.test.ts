import { describe, expect, it } from "vitest";
import { NotJson } from "#lang/json/write.ts";
import { jsonText } from "./json-text.ts";
import { limits } from "#lang/limits.ts";

class Point {
  x = 1;
  toJSON(): unknown {
    return { x: this.x, big: 2n ** 70n };
  }
}

describe("params as JSON text", () => {
  const written: [unknown, string][] = [
    [1, "1"],
    [0.1, "0.1"],
    [1e300, "1e+300"],
    [-0, "-0.0"],
    [NaN, "NaN"],
    [Infinity, "Infinity"],
    [-Infinity, "-Infinity"],
    [9_007_199_254_740_993n, "9007199254740993"],
    ['a"b\n\u2028', '"a\\"b\\n\u2028"'],
    ["\ud800", '"\ufffd"'],
    [null, "null"],
    [true, "true"],
    [[1, undefined, () => 1, [NaN]], "[1,null,null,[NaN]]"],
    [{ a: 1, b: undefined, c: { d: [] } }, '{"a":1,"c":{"d":[]}}'],
    [new Date(0), '"1970-01-01T00:00:00.000Z"'],
    [new Map<unknown, unknown>([[1, "x"]]), '{"1":"x"}'],
    [new Set([1, 2]), "[1,2]"],
    [Float32Array.of(0.5, NaN), "[0.5,NaN]"],
    [BigInt64Array.of(1n), "[1]"],
    [new Point(), '{"x":1,"big":1180591620717411303424}'],
    [Object.create(null), "{}"],
    [JSON.parse('{"__proto__": 1}'), '{"__proto__":1}'],
  ];
  it.each(written.map(([value, text]) => ({ value, text })))(
    "C2 a value is written as $text",
    ({ value, text }) => {
      expect(jsonText(value)).toBe(text);
    },
  );

  it.each<[string, unknown]>([
    ["undefined", undefined],
    ["a function", () => 1],
    ["a symbol", Symbol("x")],
    ["what contains itself", cycle()],
    ["what is nested too deep", nested(limits.paramNestingMax + 1)],
    ["what is too long", "x".repeat(limits.paramValueBytesMax)],
  ])("C1 %s is refused", (_, value) => {
    expect(() => jsonText(value)).toThrow(NotJson);
  });

  it("C2 what is nested as deep as it may be is written", () => {
    expect(jsonText(nested(limits.paramNestingMax))).toContain("[[[");
  });
});

function cycle(): unknown {
  const list: unknown[] = [];
  list.push({ list });
  return list;
}

function nested(levels: number): unknown {
  return levels === 0 ? 1 : levels === 1 ? [] : [nested(levels - 1)];
}
