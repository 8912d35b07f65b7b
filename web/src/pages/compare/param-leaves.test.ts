import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { paramLeaves } from "./param-leaves.ts";

function identity(json: string): string | undefined {
  return paramLeaves({ x: json }).get("x")?.identity;
}

describe("params as rows", () => {
  it("Z56 tells numbers by what they are, whatever their spelling", () => {
    for (const [a, b] of [
      ["1", "1.0"],
      ["0.001", "1e-3"],
      ["100", "1E2"],
      ["NaN", "NaN"],
      ["[1,2.50]", "[1.0,2.5]"],
      ['[{"a":1}]', '[{"a":1.0}]'],
    ] as const) {
      expect(identity(a), `${a} and ${b}`).toBe(identity(b));
    }
    for (const [a, b] of [
      ["1", '"1"'],
      ["9007199254740993", "9007199254740992"],
      ["0", "-0.0"],
      ["Infinity", "-Infinity"],
      ["null", '"null"'],
      ["true", "1"],
      ["[1,2]", "[12]"],
      ['["1,2"]', '["1","2"]'],
      ["[]", "{}"],
    ] as const) {
      expect(identity(a), `${a} and ${b}`).not.toBe(identity(b));
    }
  });

  it("Z56 shows every value as it was written, texts in quotes only where they would look like something else", () => {
    const leaves = paramLeaves({
      lr: "1e-3",
      name: '"adam"',
      one: '"1"',
      none: "null",
      empty: '""',
      optim: '{"betas":[0.9,0.98],"name":"adamw","deep":{"x":1.0},"nothing":{}}',
      broken: "{oh no",
    });
    expect(Object.fromEntries([...leaves].map(([key, { text }]) => [key, text]))).toEqual({
      lr: "1e-3",
      name: "adam",
      one: '"1"',
      none: "null",
      empty: '""',
      "optim.betas": "[0.9,0.98]",
      "optim.name": "adamw",
      "optim.deep.x": "1.0",
      "optim.nothing": "{}",
      broken: "{oh no",
    });
  });

  it("Z56 lets a key with dots win over a nested one of the same path", () => {
    expect(paramLeaves({ "a.b": "1", a: '{"b":2}' }).get("a.b")?.text).toBe("1");
    expect(paramLeaves({ a: '{"b":2}', "a.b": "1" }).get("a.b")?.text).toBe("1");
  });

  it("Z56 reads any JSON, equal exactly where it is equal, and takes any text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
        const wrap = (value: unknown) => identity(JSON.stringify([value]));
        // JSON.stringify writes -0 as 0, so equal text is equal meaning here.
        expect(wrap(a) === wrap(b)).toBe(JSON.stringify(a) === JSON.stringify(b));
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => paramLeaves({ x: text }).size === 1 || text.includes("{")));
  });

  it("Z56 does not overflow on what is nested too deep", () => {
    expect(paramLeaves({ x: "[".repeat(100_000) }).get("x")?.text).toHaveLength(100_000);
  });
});
