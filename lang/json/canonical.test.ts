import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CairnError } from "../errors.ts";
import { limits } from "../limits.ts";
import { dose } from "../../tools/dose.ts";
import { canonicalJson } from "./canonical.ts";
import { numberLiteral } from "./testing/number-literal.ts";

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
    ["resnet", 1, '"resnet" is not a JSON value'],
    ["[1, True]", 5, '"True" is not a JSON value'],
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
    ['{"a":1,"\\u0061":2}', 8, 'duplicate key "a"'],
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

  test("the hint for a bare word is quotes, for a Python word its JSON name", () => {
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
          expect(String(thrown)).toMatch(/duplicate key|lone surrogate/);
          return;
        }
        expect(JSON.parse(ours)).toEqual(value);
        expect(canonical(ours)).toBe(ours);
      }),
      { numRuns: dose(1_000, 10_000) },
    );
  });

  test("keeps every number as it was written, and its own form", () => {
    fc.assert(
      fc.property(numberTree, ({ text, numbers }) => {
        const ours = canonical(text);
        expect(ours.match(/-?(?:[0-9][0-9.eE+-]*|Infinity)|NaN/g) ?? []).toEqual(numbers);
        expect(canonical(ours)).toBe(ours);
      }),
      { numRuns: dose(500, 5_000) },
    );
  });
});

interface NumberTree {
  text: string;
  numbers: string[];
}

/** Lists and objects of number literals, in the order in which the canonical form has them. */
const numberTree = fc.letrec<{ node: NumberTree }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    numberLiteral.map((text) => ({ text, numbers: [text] })),
    fc.array(tie("node"), { maxLength: 4 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(" , ")}]`,
      numbers: items.flatMap(({ numbers }) => numbers),
    })),
    fc.array(tie("node"), { maxLength: 4 }).map((items) => ({
      text: `{${items
        .map(({ text }, at) => `"${"abcd"[at]}":${text}`)
        .toReversed()
        .join("\n,")}}`,
      numbers: items.flatMap(({ numbers }) => numbers),
    })),
  ),
})).node;
