import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dose } from "../../tools/dose.ts";
import { limits } from "../limits.ts";
import { canonicalJson } from "./canonical.ts";
import { leafWord } from "./leaf.ts";
import { leaves, paramLeaves } from "./leaves.ts";
import { splitObject } from "./object-text.ts";

describe("leaves", () => {
  test.each([
    ["{}", []],
    [
      '{"a":1,"b":"x","c":true,"d":false,"e":null}',
      [
        ["a", 1],
        ["b", "x"],
        ["c", true],
        ["d", false],
        ["e", null],
      ],
    ],
    [
      '{"optim":{"betas":[0.9,[1]],"lr":1e-3}}',
      [
        ["optim.betas.0", 0.9],
        ["optim.betas.1.0", 1],
        ["optim.lr", 1e-3],
      ],
    ],
    ['{"a":[],"b":{},"c":[{},[]]}', []],
    [
      '{"n":9007199254740993,"x":NaN,"y":-Infinity}',
      [
        ["n", 2 ** 53],
        ["x", NaN],
        ["y", -Infinity],
      ],
    ],
    ['{"optim.lr":1}', [["optim.lr", 1]]],
    ['{"optim":{"lr":2},"optim.lr":1}', [["optim.lr", 1]]],
    ['{"a":[5],"a.0":6}', [["a.0", 6]]],
    ['{"a":{"b":{"c":1},"b.c":2}}', [["a.b.c", 2]]],
    ['{"a":{"b.c":1},"a.b":{"c":2}}', [["a.b.c", 1]]],
    [
      '{"a":1,"a.b":2}',
      [
        ["a", 1],
        ["a.b", 2],
      ],
    ],
    [
      '{"":{"":1},"__proto__":{"x":2}}',
      [
        [".", 1],
        ["__proto__.x", 2],
      ],
    ],
    ['{"a\\"b":"c\\n\\\\"}', [['a"b', "c\n\\"]]],
  ])("of %s", (text, expected) => {
    expect([...leaves(text)]).toEqual(expected);
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
    expect(() => leaves(text)).toThrow(expect.objectContaining({ code: "corrupt" }));
  });

  test("a path longer than a key may be is left out", () => {
    const key = "k".repeat(limits.keyBytesMax);
    expect([...leaves(`{"${key}":1,"${key}x":2,"y":{"${key}":3}}`)]).toEqual([[key, 1]]);
  });

  test("has one entry per path, also where keys hold dots", () => {
    const key = fc.constantFrom("a", "b", "a.b", "0", ".", "");
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "medium" },
        fc.integer(),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value), (object) => {
        const found = [...leaves(canonicalJson(JSON.stringify(object), "params"))];
        expect(new Set(found.map(([path]) => path)).size).toBe(found.length);
        for (const [name, flat] of Object.entries(object)) {
          if (typeof flat === "number") expect(new Map(found).get(name)).toBe(flat);
        }
      }),
    );
  });
});

describe("leaves for people", () => {
  const shown = (params: Record<string, string>) =>
    [...paramLeaves(Object.entries(params))].map(([path, { type, source }]) => [path, type, source]);

  test("T26 have paths with dots and list positions, and their source", () => {
    const params = {
      optim: '{"betas":[0.9,{"x":null}],"n":{"big":9007199254740993}}',
      b: "true",
      t: '"adam"',
    };
    expect(shown(params)).toEqual([
      ["optim.betas.0", "number", "0.9"],
      ["optim.betas.1.x", "null", "null"],
      ["optim.n.big", "number", "9007199254740993"],
      ["b", "bool", "true"],
      ["t", "text", '"adam"'],
    ]);
  });

  test("T26 prefer a flat key with dots to a nested one, and keep empty lists and objects", () => {
    expect(shown({ a: '{"b":1,"c":{}}', "a.b": "2", l: "[]" })).toEqual([
      ["a.b", "number", "2"],
      ["a.c", "object", "{}"],
      ["l", "list", "[]"],
    ]);
    expect(shown({ a: '{"b":{"c":1}}', "a.b": '{"c":2}' })).toEqual([["a.b.c", "number", "2"]]);
  });

  test("T26 take any key as a key", () => {
    const params = JSON.parse('{"__proto__":"{\\"constructor\\":1}"}') as Record<string, string>;
    expect(shown(params)).toEqual([["__proto__.constructor", "number", "1"]]);
  });

  test.each(["", "{", "[1,", "nope", "1 2", '{"a" 1}', '{"a":1}x', '{"\\x":1}', "[".repeat(100_000)])(
    "T26 show %j, which is not JSON, unchanged",
    (text) => {
      const found = paramLeaves([
        ["a", text],
        ["b", "[1]"],
      ]);
      expect([...found.keys()]).toEqual(["a", "b.0"]);
      expect(leafWord(found.get("a")!)).toBe(text);
    },
  );

  test("are those of the index, and empty ones", () => {
    const key = fc.constantFrom("a", "b", "a.b", "0", ".", "");
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { depthSize: "medium" },
        fc.oneof(fc.integer(), fc.boolean(), fc.constant(null), fc.string({ maxLength: 3 })),
        fc.array(tie("value"), { maxLength: 3 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(fc.dictionary(key, value), (object) => {
        const text = canonicalJson(JSON.stringify(object), "params");
        const people = paramLeaves(splitObject(text));
        const index = new Map(leaves(text));
        for (const [path, { type, source }] of people) {
          if (type === "list" || type === "object") expect(source).toMatch(/^(?:\[\]|\{\})$/);
          else expect(index.get(path)).toEqual(JSON.parse(source));
        }
        for (const path of index.keys()) expect(people.has(path)).toBe(true);
      }),
      { numRuns: dose(300, 3_000) },
    );
  });
});
