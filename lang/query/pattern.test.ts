import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "#base/cpu-ms.ts";
import { limits } from "../limits.ts";
import { compilePattern, patternCost } from "./pattern.ts";
import { dose } from "../../tools/dose.ts";

describe("compilePattern", () => {
  test.each([
    ["(", "missing closing )"],
    ["a**", "invalid nested repetition operator"],
    ["(?=a)", "invalid or unsupported Perl syntax"],
    ["\\1", "invalid escape sequence"],
    ["a{1001}", "invalid repeat count"],
    ["x".repeat(limits.patternBytesMax + 1), "1025 bytes are more than 1024"],
    ["é".repeat(limits.patternBytesMax / 2 + 1), "1026 bytes are more than 1024"],
    [`(${"a".repeat(1_000)}){1000}`, "its repetitions are too large"],
    ["a{999}".repeat(100), "its repetitions are too large"],
    ["\ud800", "lone surrogate"],
  ])("refuses %s", (text, problem) => {
    expect(() => compilePattern(text, "pattern")).toThrow(
      expect.objectContaining({ code: "invalid", message: expect.stringContaining(problem) as string }),
    );
  });

  test("names the pattern and shows at most 200 bytes of it", () => {
    expect(() => compilePattern("(", "key pattern")).toThrow(
      'cannot read key pattern "(": missing closing )',
    );
    try {
      compilePattern("x".repeat(2_000), "pattern");
    } catch (thrown) {
      expect((thrown as Error).message.length).toBeLessThan(300);
    }
  });

  test.each([
    "a{1000}",
    "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    "(?i)größe|straße",
    "^(?is:.*実験-改.*)$",
    "(?i)[a-zé-ž]+",
  ])("accepts %s", (text) => {
    expect(compilePattern(text, "pattern").pattern()).toBe(text);
  });

  test("the estimated cost is never far below the size that RE2 compiles", () => {
    const words = "{2} {3,} {5,9} {40} (a b) (a|b) (?: (?i) [^] [] [[:alpha:]] \\Q \\E \\pL \\]".split(" ");
    const piece = fc.constantFrom(...Array.from("ab()[]{}|*+?.^$\\-:,"), ...words);
    const text = fc.array(piece, { maxLength: 24 }).map((pieces) => pieces.join(""));
    let compiled = 0;
    fc.assert(
      fc.property(text, (source) => {
        const cost = patternCost(source);
        if (cost > limits.patternCostMax) return;
        try {
          const size = compilePattern(source, "pattern").programSize();
          compiled++;
          expect(size).toBeLessThanOrEqual(4 * cost);
        } catch (thrown) {
          expect(thrown).toMatchObject({ name: "CairnError", code: "invalid" });
        }
      }),
      { numRuns: dose(1_000, 10_000) },
    );
    expect(compiled).toBeGreaterThan(100);
  });
});

describe("matching", () => {
  test("Q5, S11: takes linear time where a backtracking engine takes exponential time", () => {
    const evil = ["^(a+)+$", "(a|aa)+$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x+x+)+y"];
    for (const text of evil) {
      const pattern = compilePattern(text, "pattern");
      const timeOf = (length: number) => {
        const input = `${"a".repeat(length)}!`;
        const began = cpuMs();
        for (let i = 0; i < 20; i++) pattern.test(input);
        return cpuMs() - began;
      };
      timeOf(500);
      // Twenty times the length may take a few hundred times as long, never 2^n.
      expect(timeOf(10_000)).toBeLessThan(Math.max(200, 400 * timeOf(500)));
    }
  });
});
