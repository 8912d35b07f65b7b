import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "#base/cpu-ms.ts";
import { limits } from "../limits.ts";
import { compilePattern, globToRegex, likeToRegex, patternCost, regexToLike } from "./pattern.ts";
import { dose } from "../../tools/dose.ts";

describe("globToRegex", () => {
  test.each([
    ["*", ["loss", ""], ["val/loss"]],
    ["val/*", ["val/", "val/acc"], ["val", "val/a/b", "xval/a"]],
    ["**", ["", "a/b/c", "line\nbreak"], []],
    ["**/loss", ["a/loss", "a/b/loss"], ["loss", "a/losses"]],
    ["top?", ["top5", "top😀"], ["top", "top10"]],
    ["a.b+(c)[d]{2}|^$", ["a.b+(c)[d]{2}|^$"], ["axb+(c)[d]{2}|^$"]],
    ["100\\*", ["100*"], ["1000"]],
    ["a\\", ["a\\"], ["a"]],
    ["", [""], ["a"]],
  ])("%s", (glob, yes, no) => {
    const pattern = compilePattern(globToRegex(glob), "glob");
    for (const key of yes) expect(pattern.test(key), key).toBe(true);
    for (const key of no) expect(pattern.test(key), key).toBe(false);
  });
});

describe("likeToRegex", () => {
  test("agrees with a naive matcher", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "%", "_", "\\", ".", "😀", "\n"), maxLength: 6 });
    fc.assert(
      fc.property(text, text, (like, value) => {
        const pattern = compilePattern(likeToRegex(like, { ignoreCase: false }), "pattern");
        expect(pattern.test(value)).toBe(naiveLike(Array.from(like), Array.from(value)));
      }),
      { numRuns: 1_000 },
    );
  });

  test("regexToLike gives back the same regular expression, or nothing", () => {
    const like = fc.string({ unit: fc.constantFrom(...Array.from("a%_\\.*?()|[]{}^$\n"), "😀") });
    fc.assert(
      fc.property(like, fc.boolean(), (text, ignoreCase) => {
        const regex = likeToRegex(text, { ignoreCase });
        const back = regexToLike(regex);
        expect(back?.ignoreCase).toBe(ignoreCase);
        expect(likeToRegex(back!.like, { ignoreCase })).toBe(regex);
      }),
    );
    for (const regex of ["a", "^(?s:a+)$", "^(?s:(a))$", "^(?s:\\d)$", "^(?i:a)$", "^(?s:a)$|b"]) {
      expect(regexToLike(regex), regex).toBeUndefined();
    }
  });
});

function naiveLike(like: readonly string[], value: readonly string[]): boolean {
  const [first, second] = like;
  if (first === undefined) return value.length === 0;
  if (first === "%") {
    return naiveLike(like.slice(1), value) || (value.length > 0 && naiveLike(like, value.slice(1)));
  }
  if (value.length === 0) return false;
  if (first === "_") return naiveLike(like.slice(1), value.slice(1));
  const escaped = first === "\\" && second !== undefined;
  if (value[0] !== (escaped ? second : first)) return false;
  return naiveLike(like.slice(escaped ? 2 : 1), value.slice(1));
}

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
