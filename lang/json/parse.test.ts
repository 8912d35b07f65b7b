import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJson, JsonError, nodeEntries, parseJson, type JsonOptions } from "./parse.ts";
import { jsonValue } from "./write.ts";

function refusal(text: string, options: JsonOptions): JsonError {
  try {
    parseJson(text, options);
  } catch (thrown) {
    if (thrown instanceof JsonError) return thrown;
    throw thrown;
  }
  throw new Error(`was accepted: ${text.slice(0, 100)}`);
}

describe("parseJson", () => {
  test("leaves are as they were written, entries in their order", () => {
    const node = parseJson(' {"b": [1.0, NaN, -Infinity], "a": "\\u0041", "c": {"d": [true, null]}} ');
    expect(node).toEqual({
      type: "object",
      entries: new Map<string, unknown>([
        [
          "b",
          {
            type: "list",
            items: ["1.0", "NaN", "-Infinity"].map((source) => ({ type: "number", source })),
          },
        ],
        ["a", { type: "text", source: '"\\u0041"' }],
        [
          "c",
          {
            type: "object",
            entries: new Map([
              [
                "d",
                {
                  type: "list",
                  items: [
                    { type: "bool", source: "true" },
                    { type: "null", source: "null" },
                  ],
                },
              ],
            ]),
          },
        ],
      ]),
    });
    expect(nodeEntries(node).map(([name]) => name)).toEqual(["b", "a", "c"]);
    expect(nodeEntries(parseJson("[1,2]")).map(([name]) => name)).toEqual(["0", "1"]);
    expect(nodeEntries(parseJson("1"))).toEqual([]);
  });

  test("reads all that JSON.parse reads", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.nat({ max: 3 }), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(jsonValue(parseJson(text), Number)).toEqual(JSON.parse(text));
      }),
    );
  });

  test("X20 the last of a key counts in text of another program, and half a surrogate pair may be escaped", () => {
    const text = '{"a": 1, "b": 2, "a": "\\ud800"}';
    expect(jsonValue(parseJson(text, { isForeign: true }))).toEqual({ a: "\ud800", b: 2 });
    expect(refusal(text, {}).message).toContain('duplicate key "a" at column 18');
    expect(refusal('"\\ud800"', {}).message).toContain("lone surrogate");
  });

  test("broken, too deep and too large texts have different errors", () => {
    expect(refusal("[1", { what: "file.json" })).toMatchObject({
      code: "invalid",
      reason: "JSON_SYNTAX",
      fault: "broken",
      message: 'cannot read file.json: expected "," or "]", found the end at column 3',
    });
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(parseJson(nested(100), { depthMax: 100 }).type).toBe("list");
    expect(refusal(nested(101), { depthMax: 100 })).toMatchObject({
      fault: "deep",
      facts: { column: "101" },
    });
    expect(refusal("[".repeat(1_000_000), { depthMax: 512 }).fault).toBe("deep");
    expect(parseJson("[1,[2]]", { nodesMax: 4 }).type).toBe("list");
    expect(refusal("[1,[2]]", { nodesMax: 3 })).toMatchObject({
      fault: "large",
      message: "cannot read JSON: more than 3 values at column 5",
    });
  });
});

describe("isJson", () => {
  test("is true for what a server would read or refuse as JSON", () => {
    const nested = "[".repeat(33) + "]".repeat(33);
    for (const text of ["1", "NaN", '[1, -Infinity, "x"]', '{"a":1,"a":2}', nested])
      expect(isJson(text)).toBe(true);
    for (const text of ["", "adam", "1 2", "'a'", "None", "[", "01"]) expect(isJson(text)).toBe(false);
  });
});
