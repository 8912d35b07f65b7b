import { expect, it } from "vitest";
import { describePatch, readPatch } from "./patch.ts";

const PATCH = `diff --git a/asr/schedule.py b/asr/schedule.py
index 1..2 100644
--- a/asr/schedule.py
+++ b/asr/schedule.py
@@ -1,2 +1,2 @@
 same
--- a comment
+++ counter
`;

it("Z47, M7: a line that looks like a header inside a hunk is a line", () => {
  const kinds = readPatch(`${PATCH}diff --git a/y b/y\n--- a/y\n`).map(({ kind }) => kind);
  expect(kinds).toEqual("file file file file hunk same removed added file file".split(" "));
  expect(readPatch("")).toEqual([]);
});

it("M7 a patch is described by what it adds, removes and touches", () => {
  expect(describePatch(PATCH)).toBe("+1 -1 in asr/schedule.py");
  expect(describePatch(PATCH + PATCH)).toBe("+2 -2 in 2 files");
  expect(describePatch("what is this")).toBe("+0 -0");
});
