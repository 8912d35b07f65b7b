import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dose } from "../../tools/dose.ts";
import { canonicalJson } from "./canonical.ts";
import { leaves } from "./leaves.ts";
import { joinObject, splitObject } from "./object-text.ts";
import { paramAt } from "./param-at.ts";

function params(entries: Record<string, string>): Map<string, string> {
  return new Map(Object.entries(entries));
}

describe("paramAt", () => {
  it("G3 finds values of any kind by their path, as they were written", () => {
    const own = params({
      lr: "1.0",
      optim: '{"betas":[0.9,{"x":[1,2]}],"name":"adam \\"w\\", ok","none":null}',
      "a.b": "7",
      list: '[[],{},"],[",-1e-3]',
    });
    for (const [path, value] of [
      ["lr", "1.0"],
      ["optim.name", '"adam \\"w\\", ok"'],
      ["optim.betas", '[0.9,{"x":[1,2]}]'],
      ["optim.betas.0", "0.9"],
      ["optim.betas.1.x.1", "2"],
      ["optim.none", "null"],
      ["a.b", "7"],
      ["list.0", "[]"],
      ["list.1", "{}"],
      ["list.2", '"],["'],
      ["list.3", "-1e-3"],
    ] as const) {
      expect(paramAt(own, path), path).toBe(value);
    }
    for (const text of ["{", "[1,", "[}", '{"a":[1}', "[[1]x]", '{"0":1}x']) {
      expect(paramAt(params({ a: text }), "a.0"), text).toBeUndefined();
    }
    for (const path of ["", "x", "lr.0", "optim.betas.2", "optim.betas.-1", "a", "list.0.0", "list.1.x"]) {
      expect(paramAt(own, path), path).toBeUndefined();
    }
  });

  it("G3 takes the value with the fewest levels, then the shortest first key", () => {
    const both = params({ "a.b.c": "1", a: '{"b.c":2,"b":{"c":3}}', "a.b": '{"c":4}' });
    expect(paramAt(both, "a.b.c")).toBe("1");
    both.delete("a.b.c");
    expect(paramAt(both, "a.b.c")).toBe("2");
    expect(paramAt(params({ "a.b": '{"c":4}', a: '{"b":{"c":3}}' }), "a.b.c")).toBe("4");
  });

  it("G3 agrees with a query about every scalar", () => {
    const key = fc.constantFrom("a", "b", "a.b", "b.a", "0");
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "small" },
        fc.oneof(fc.integer(), fc.boolean(), fc.constantFrom("", "x,y", '"]')),
        fc.array(tie("value"), { minLength: 1, maxLength: 3 }),
        fc.dictionary(key, tie("value"), { minKeys: 1, maxKeys: 3 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value, { maxKeys: 4 }), (object) => {
        const own = new Map(
          Object.entries(object).map(([name, one]) => [name, canonicalJson(JSON.stringify(one), name)]),
        );
        const text = joinObject(own);
        expect(splitObject(text)).toEqual(own);
        for (const [path, scalar] of leaves(text)) {
          const found = JSON.parse(paramAt(own, path)!) as unknown;
          // A whole object or list is a value here, and none in a query.
          if (typeof found !== "object") expect(found, `${path} in ${text}`).toEqual(scalar);
        }
      }),
      { numRuns: dose(500, 5_000) },
    );
  });
});
