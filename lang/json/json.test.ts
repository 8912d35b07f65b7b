import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import { compareCodePoints } from "../code-points.ts";
import { canonicalJson, joinObject, leaves, splitObject } from "./json.ts";
import { dose } from "../../tools/dose.ts";

const canonical = (text: string) => canonicalJson(text, 'param "p"');

function refusal(text: string): CairnError {
  try {
    canonical(text);
  } catch (thrown) {
    if (thrown instanceof CairnError) return thrown;
    throw thrown;
  }
  throw new Error(`was accepted: ${text.slice(0, 100)}`);
}

describe("canonicalJson", () => {
  test.each([
    ["1", "1"],
    ["1.0", "1.0"],
    ["1e5", "1e5"],
    ["1E+05", "1E+05"],
    ["-0", "-0"],
    ["9007199254740993", "9007199254740993"],
    ["1e999", "1e999"],
    ["NaN", "NaN"],
    ["[Infinity, -Infinity]", "[Infinity,-Infinity]"],
    [" true\n", "true"],
    ["null", "null"],
    ['"resnet"', '"resnet"'],
    ['"\\u0041\\/\\u00e9\\ud83d\\ude00"', '"A/é😀"'],
    ['"\\u0001\\u000a\\u0022"', '"\\u0001\\n\\""'],
    ['"\u2028\u007f"', '"\u2028\u007f"'],
    ["[ ]", "[]"],
    ["{ }", "{}"],
    ['{"b" : [1, 2.50, {"z":1,"a":2}] ,\t"a":0}', '{"a":0,"b":[1,2.50,{"a":2,"z":1}]}'],
    ['{"\u{1f600}":1,"\uffee":2,"":3}', '{"":3,"\uffee":2,"\u{1f600}":1}'],
    ['{"\\u0062":1,"a":2}', '{"a":2,"b":1}'],
    ['{"__proto__":{"x":1},"constructor":2}', '{"__proto__":{"x":1},"constructor":2}'],
  ])("%s becomes %s", (text, expected) => {
    expect(canonical(text)).toBe(expected);
    expect(canonical(expected)).toBe(expected);
  });

  test.each([
    ["", 1, "expected a JSON value, found the end"],
    ["resnet", 1, '"resnet" is no JSON value'],
    ["[1, True]", 5, '"True" is no JSON value'],
    ["'a'", 1, "expected a JSON value"],
    ["+1", 1, "expected a JSON value"],
    [".5", 1, "expected a JSON value"],
    ["-", 1, "expected a JSON value"],
    ["-NaN", 1, "expected a JSON value"],
    ["01", 2, "expected the end"],
    ["1.", 2, "expected the end"],
    ["1e", 2, "expected the end"],
    ["1 2", 3, 'expected the end, found "2"'],
    ["[1,]", 4, "expected a JSON value"],
    ["[1 2]", 4, 'expected "," or "]"'],
    ["[1", 3, 'expected "," or "]", found the end'],
    ["{a:1}", 2, "expected a key in double quotes"],
    ['{"a" 1}', 6, 'expected ":"'],
    ['{"a":1,}', 8, "expected a key in double quotes"],
    ['{"a":1 "b":2}', 8, 'expected "," or "}"'],
    ['{"a":1,"\\u0061":2}', 8, 'the key "a" is there twice'],
    ['"abc', 1, "no closing quote"],
    ['"a\nb"', 3, "control character"],
    ['"\\x"', 2, "unknown escape"],
    ['"\\', 2, "unknown escape"],
    ['"\\u12g4"', 2, "four hex digits"],
    ['"😀\\ud800"', 3, "lone surrogate"],
    ['"\\udc00\\ud800"', 2, "lone surrogate"],
    ['"\\ud800\\u0041"', 2, "lone surrogate"],
    ['"\ud800"', 2, "lone surrogate"],
    ['"a" // b', 5, "expected the end"],
    ["\ufeff1", 1, "expected a JSON value"],
  ])("%s is refused at column %i: %s", (text, column, problem) => {
    const error = refusal(text);
    expect(error.code).toBe("invalid");
    expect(error.reason).toBe("JSON_SYNTAX");
    expect(error.facts).toEqual({ column: String(column) });
    expect(error.message).toContain(`cannot read param "p": `);
    expect(error.message).toContain(problem);
    expect(error.message).toContain(`at column ${column}`);
  });

  test("a bare word is told to put on quotes, a Python word its JSON name", () => {
    expect(refusal("resnet").hint).toBe('a string needs quotes: "\\"resnet\\""');
    expect(refusal("None").hint).toBe("write null");
    expect(refusal("inf").hint).toBe("write Infinity");
  });

  test("nesting and size end at the limits", () => {
    const depth = limits.paramNestingMax;
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    expect(canonical(nested(depth))).toBe(nested(depth));
    expect(refusal(nested(depth + 1)).message).toContain(
      `nested deeper than ${depth} at column ${depth + 1}`,
    );
    expect(refusal("[".repeat(60_000)).message).toContain("nested deeper");
    const text = (bytes: number) => `"${"é".repeat((bytes - 2) / 2)}"`;
    expect(canonical(text(limits.paramValueBytesMax))).toHaveLength(limits.paramValueBytesMax / 2 + 1);
    expect(refusal(text(limits.paramValueBytesMax + 2)).message).toContain("bytes are more than 65536");
  });

  test("agrees with JSON.parse on what is JSON", () => {
    const pieces = fc.constantFrom(
      ...Array.from('{}[]:,"\\ue+-.01 \n'),
      '"a"',
      "true",
      "null",
      "1.5",
      '"\\n"',
      "😀",
    );
    const mutated = fc.tuple(
      fc.json({ maxDepth: 3 }),
      fc.array(fc.tuple(fc.nat(), fc.nat(2), pieces), { maxLength: 2 }),
    );
    const text = fc.oneof(
      fc.array(pieces, { maxLength: 12 }).map((parts) => parts.join("")),
      mutated.map(([json, edits]) =>
        edits.reduce((edited, [place, remove, piece]) => {
          const at = place % (edited.length + 1);
          return edited.slice(0, at) + piece + edited.slice(at + remove);
        }, json),
      ),
    );
    fc.assert(
      fc.property(text, (source) => {
        let value: unknown;
        try {
          value = JSON.parse(source);
        } catch {
          expect(refusal(source).code).toBe("invalid");
          return;
        }
        let ours: string;
        try {
          ours = canonical(source);
        } catch (thrown) {
          // The two things that JSON.parse lets pass.
          expect(String(thrown)).toMatch(/is there twice|lone surrogate/);
          return;
        }
        expect(JSON.parse(ours)).toEqual(value);
        expect(canonical(ours)).toBe(ours);
      }),
      { numRuns: dose(1_000, 10_000) },
    );
  });
});

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

  test("split does not trip over quotes, brackets and backslashes in strings", () => {
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
    expect(() => leaves(text)).toThrow(expect.objectContaining({ code: "corrupt" }));
  });
});

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
        const found = [...leaves(canonical(JSON.stringify(object)))];
        expect(new Set(found.map(([path]) => path)).size).toBe(found.length);
        for (const [name, flat] of Object.entries(object)) {
          if (typeof flat === "number") expect(new Map(found).get(name)).toBe(flat);
        }
      }),
    );
  });
});
