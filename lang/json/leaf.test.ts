import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { dose } from "../../tools/dose.ts";
import { leafContent, leafIdentity, leafOf, leafWord } from "./leaf.ts";
import { numberLiteral } from "./testing/number-literal.ts";

const identity = (source: string) => leafIdentity(leafOf(source));

describe("leafWord", () => {
  test.each([
    ['"adam"', "adam"],
    ['"a\\nb"', "a\nb"],
    ['"1"', '"1"'],
    ['"-1.5e3"', '"-1.5e3"'],
    ['"NaN"', '"NaN"'],
    ['"true"', '"true"'],
    ['"null"', '"null"'],
    ['""', '""'],
    ['" x"', '" x"'],
    ['"[1]"', '"[1]"'],
    ['"{"', '"{"'],
    ['"1.2.3"', "1.2.3"],
    ['"nulls"', "nulls"],
    ["1.0", "1.0"],
    ["9007199254740993", "9007199254740993"],
    ["-Infinity", "-Infinity"],
    ["[]", "[]"],
    ["{}", "{}"],
  ])("T26 %s is shown as %s", (source, word) => {
    expect(leafWord(leafOf(source))).toBe(word);
  });
});

describe("leafContent", () => {
  test("is the content of a string, and the literal of anything else, broken ones too", () => {
    expect(["1.0", '"a\\u0041"', '"\\x"', "null"].map((source) => leafContent(leafOf(source)))).toEqual([
      "1.0",
      "aA",
      '"\\x"',
      "null",
    ]);
  });
});

describe("leafIdentity", () => {
  test.each([
    ["1", "1.0", "1e0", "10e-1", "0.1E+1", "1.000"],
    ["9007199254740993", "9007199254740993.0", "9007199254740.993e3"],
    ["0.001", "1e-3", "0.1e-2"],
    ["0", "0.0", "0e99", "0.000e-5"],
    ["-0.0", "-0", "-0e7"],
    ["NaN"],
    ["1e99999999999999999999", "10e99999999999999999998"],
    ['"é"', '"\\u00e9"'],
    ["[1,2.0]", "[1.0,2]"],
    ['{"a":1,"b":{}}', '{"a":1.0,"b":{}}'],
    ["{}"],
    ["[]"],
  ])("%s means the same however it is written", (first, ...others) => {
    for (const other of others) expect(identity(other), other).toBe(identity(first));
  });

  test("distinguishes different values", () => {
    const numbers =
      "0.0 -0.0 1 0.1 0.1000000000000000055511151231257827 9007199254740993 9007199254740992 NaN Infinity " +
      "-Infinity 1e999 1e-999 10 1e21 1e22 123e20";
    const others = 'true "true" null "1" "" [] {} "[]" [1] [[1]] ["1"] nope';
    const different = `${numbers} ${others}`.split(" ");
    expect(new Set(different.map(identity)).size).toBe(different.length);
  });

  test("is the shortest literal where a double holds the value", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = Object.is(number, -0) ? "-0" : String(number);
        expect(identity(text)).toBe(text);
      }),
    );
  });

  test("agrees with decimal arithmetic, for any two numbers", () => {
    const rewritten = numberLiteral.chain((source) =>
      fc.tuple(fc.constant(source), fc.oneof(numberLiteral, sameNumber(source), neighbour(source))),
    );
    fc.assert(
      fc.property(rewritten, ([one, other]) => {
        expect(identity(one) === identity(other)).toBe(isSameDecimal(one, other));
        expect(identity(identity(one))).toBe(identity(one));
      }),
      { numRuns: dose(1_000, 20_000) },
    );
  });
});

/** Exact: as a whole number of the smallest unit that either of them has. */
function isSameDecimal(one: string, other: string): boolean {
  if (/[NI]/.test(one + other)) return one === other;
  const [a, b] = [scaled(one), scaled(other)];
  const exponent = Math.min(a.exponent, b.exponent);
  const [left, right] = [a, b].map((each) => each.digits * 10n ** BigInt(each.exponent - exponent));
  return left === right && (left !== 0n || one.startsWith("-") === other.startsWith("-"));
}

function scaled(source: string): { digits: bigint; exponent: number } {
  const [mantissa = "", exponent = "0"] = source.toLowerCase().split("e");
  const [whole = "", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** The same value with the point elsewhere. */
function sameNumber(source: string): fc.Arbitrary<string> {
  if (/[NI]/.test(source)) return fc.constant(source);
  const { digits, exponent } = scaled(source);
  const sign = source.startsWith("-") ? "-" : "";
  const plain = String(digits).replace("-", "");
  return fc
    .nat({ max: 30 })
    .map((shift) => `${sign}${plain}${"0".repeat(shift)}.${"0".repeat(shift % 3 || 1)}e${exponent - shift}`);
}

/** The value beside it. */
function neighbour(source: string): fc.Arbitrary<string> {
  if (/[NI]/.test(source)) return fc.constant("0");
  const { digits, exponent } = scaled(source);
  return fc.constant(`${digits + 1n}e${exponent}`);
}
