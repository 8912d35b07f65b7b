import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cpuMs } from "#base/cpu-ms.ts";
import { compilePattern } from "./pattern.ts";
import { globMatcher, globToRegex, likeToRegex, regexToLike } from "./wildcards.ts";

describe("globs", () => {
  test.each([
    ["*", ["loss", ""], ["val/loss"]],
    ["val/*", ["val/", "val/acc"], ["val", "val/a/b", "xval/a"]],
    ["**", ["", "a/b/c", "line\nbreak"], []],
    ["**/loss", ["a/loss", "a/b/loss"], ["loss", "a/losses"]],
    ["top?", ["top5", "top😀", "top/"], ["top", "top10"]],
    ["a.b+(c)[d]{2}|^$", ["a.b+(c)[d]{2}|^$"], ["axb+(c)[d]{2}|^$"]],
    ["100\\*", ["100*"], ["1000"]],
    ["a\\", ["a\\"], ["a"]],
    ["a\\?b\\*", ["a?b*"], ["axb*", "a?b"]],
    ["", [""], ["a"]],
  ])("%s", (glob, yes, no) => {
    const pattern = compilePattern(globToRegex(glob), "glob");
    const matches = globMatcher(glob);
    for (const key of yes) expect([pattern.test(key), matches(key)], key).toEqual([true, true]);
    for (const key of no) expect([pattern.test(key), matches(key)], key).toEqual([false, false]);
  });

  test("V10 are matched as on the server, also without RE2", () => {
    const text = (...more: string[]) =>
      fc.string({ unit: fc.constantFrom("a", "b", "/", "\\", "😀", "\n", ...more), maxLength: 8 });
    fc.assert(
      fc.property(text("*", "**", "?", "?*"), text("*"), (glob, key) => {
        expect(globMatcher(glob)(key)).toBe(compilePattern(globToRegex(glob), "glob").test(key));
      }),
      { numRuns: 2_000 },
    );
  });

  test("V10, S11: take little time, also hostile ones", () => {
    const began = cpuMs();
    expect(globMatcher(`${"*a".repeat(500)}b`)("a".repeat(512))).toBe(false);
    expect(globMatcher(`${"**a".repeat(300)}b`)("a".repeat(512))).toBe(false);
    expect(cpuMs() - began).toBeLessThan(200);
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
