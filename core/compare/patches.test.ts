import { expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { comparePatches } from "./patches.ts";

const PATCH = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n same\n-old\n+new\n";

it("M7 uncommitted changes are compared with those of the baseline", () => {
  expect(comparePatches(PATCH, PATCH)).toEqual({ how: "same", lines: [], moreLines: 0 });
  expect(comparePatches("", PATCH)).toMatchObject({ how: "own", lines: PATCH.trimEnd().split("\n") });
  expect(comparePatches(PATCH, "")).toMatchObject({ how: "missing", moreLines: 0 });
  const { how, lines } = comparePatches(PATCH, PATCH.replace("+new", "+other"));
  expect(how).toBe("between");
  expect(lines.filter((line) => /^[-+]/.test(line))).toEqual(["-+new", "++other"]);
});

it("M7 their comparison is bounded in work and in lines", () => {
  const long = (word: string) => Array.from({ length: 5_000 }, (_, i) => `+${word} ${i}`).join("\n");
  expect(comparePatches(long("a"), long("b"))).toEqual({ how: "too-different", lines: [], moreLines: 0 });
  const { lines, moreLines } = comparePatches("", long("a"));
  expect([lines.length, moreLines]).toEqual([
    limits.comparedPatchLinesMax,
    5_000 - limits.comparedPatchLinesMax,
  ]);
});
