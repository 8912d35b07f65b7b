import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compareCodePoints } from "../code-points.ts";
import { joinObject, splitList, splitObject } from "./object-text.ts";

describe("objects of params", () => {
  test("join sorts by code point and split gives back every value text", () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string({ unit: "binary" }), fc.json({ maxDepth: 2 })), {
      selector: ([key]) => key,
    });
    fc.assert(
      fc.property(entries, (list) => {
        const values = list.map(([key, text]) => [key, JSON.stringify(JSON.parse(text))] as const);
        const joined = joinObject(values);
        const split = splitObject(joined);
        expect(split).toEqual(new Map(values));
        expect([...split.keys()]).toEqual([...split.keys()].sort(compareCodePoints));
        expect(joinObject(split)).toBe(joined);
      }),
    );
  });

  test("split handles quotes, brackets and backslashes in strings", () => {
    const text = '{"a":"x\\\\","b\\"":"},]{","c":[{"d":"]\\""},2],"d":-1.50,"e":"\\\\\\""}';
    expect([...splitObject(text)]).toEqual([
      ["a", '"x\\\\"'],
      ['b"', '"},]{"'],
      ["c", '[{"d":"]\\""},2]'],
      ["d", "-1.50"],
      ["e", '"\\\\\\""'],
    ]);
  });

  test.each([
    "",
    "[]",
    "{",
    '{"a"}',
    '{"a":1',
    '{"a":1}x',
    '{"a":"b}',
    '{"a":[1}',
    "{a:1}",
    '{"a\\"}',
    '{"a":1,}',
  ])("%s is reported as corrupt", (text) => {
    expect(() => splitObject(text)).toThrow(expect.objectContaining({ code: "corrupt" }));
  });

  test("the items of a list are their texts", () => {
    expect(splitList("[]")).toEqual([]);
    expect(splitList('[1.0,"],[",[2,{"a":[]}],null]')).toEqual(["1.0", '"],["', '[2,{"a":[]}]', "null"]);
    for (const text of ["", "{}", "[", "[1", "[1,]", "[,1]", "[}", "[1]x", '["a"x]', "[1}"]) {
      expect(() => splitList(text), text).toThrow(expect.objectContaining({ code: "corrupt" }));
    }
  });
});
