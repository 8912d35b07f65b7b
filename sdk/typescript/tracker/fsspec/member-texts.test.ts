import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { memberTexts, normalJson } from "./member-texts.ts";

describe("texts of JSON values", () => {
  it("X20 are those that were written", () => {
    const text = ' { "a" : 1.0 ,"b":[1, {"c": "}],\\""}] , "a": 1e5,"\\u0062\\"": NaN , "e":{},"f":"" }';
    expect([...memberTexts(text)]).toEqual([
      ["a", "1e5"],
      ["b", '[1, {"c": "}],\\""}]'],
      ['b"', "NaN"],
      ["e", "{}"],
      ["f", '""'],
    ]);
    expect([...memberTexts("{ }")]).toEqual([]);
  });

  it("X36 are compared without regard to spaces, order and escapes, but with regard to numbers", () => {
    const same = normalJson('{"b": [1.0, -Infinity, {}, [ ]], "a": {"y": "\\u00e9", "x": null}}');
    expect(same).toBe('{"a":{"x":null,"y":"é"},"b":[1.0,-Infinity,{},[]]}');
    expect(normalJson(' {"a":{"x":null ,"y":"é"},"b":[1.0,-Infinity,{},[]]} ')).toBe(same);
    expect(normalJson("1")).not.toBe(normalJson("1.0"));
    expect(normalJson('{"a": 1, "a": 2}')).toBe('{"a":2}');
  });

  it("X36 mean the same afterwards", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat({ max: 4 }), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), undefined, indent);
        expect(JSON.parse(normalJson(spaced))).toEqual(JSON.parse(text));
        expect(normalJson(spaced)).toBe(normalJson(text));
      }),
    );
  });
});
