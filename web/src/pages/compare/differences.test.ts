import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparePatches, describePatch, readPatch } from "./patch-lines.ts";
import { splitEnvironment } from "./packages.ts";
import { condense, diffTokens } from "./token-diff.ts";
import { cpuMs } from "#base/cpu-ms.ts";

const joined = (parts: { kind: string; text: string }[], without: string) =>
  parts.flatMap(({ kind, text }) => (kind === without ? [] : [text])).join("");

describe("long texts", () => {
  it("Z58 have their differences marked word by word", () => {
    const base = "python -m asr.train --lr=0.001 --depth=12 --seed=1";
    const other = "python -m asr.train --lr=0.003 --depth=12 --seed=1 --fp16";
    const parts = diffTokens(base, other)!;
    expect(joined(parts, "added")).toBe(base);
    expect(joined(parts, "removed")).toBe(other);
    expect(parts.filter(({ kind }) => kind === "added").map(({ text }) => text.trim())).toContain("003");
  });

  it("Z58 come back whole from the marks, whatever they hold", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 80 }),
        fc.string({ maxLength: 80 }),
        fc.string({ maxLength: 80 }),
        (a, b, c) => {
          const [base, other] = [`${a} ${b} ${c}`, `${a} ${c} ${b}`];
          const parts = diffTokens(base, other);
          if (parts === undefined) return;
          expect(joined(parts, "added")).toBe(base);
          expect(joined(parts, "removed")).toBe(other);
        },
      ),
    );
  });

  it("Z58 are left as they are where marks would not help", () => {
    expect(diffTokens("adam", "sgd")).toBeUndefined();
    expect(diffTokens("a".repeat(40), "b".repeat(40))).toBeUndefined();
    expect(diffTokens("", "something that is long enough")).toBeUndefined();
    const words = (from: number) => Array.from({ length: 3_000 }, (_, i) => `w${from + i}`).join(" ");
    const begun = cpuMs();
    expect(diffTokens(words(0), words(5_000))).toBeUndefined();
    expect(diffTokens("x ".repeat(20_000), "y ".repeat(20_000))).toBeUndefined();
    expect(cpuMs() - begun).toBeLessThan(2_000);
  });

  it("Z58 leave long equal stretches out", () => {
    const parts = condense([
      { kind: "same", text: "a".repeat(500) },
      { kind: "added", text: "new" },
      { kind: "same", text: "b".repeat(500) },
      { kind: "removed", text: "c".repeat(500) },
      { kind: "same", text: "short" },
    ]);
    expect(parts.map(({ text }) => text)).toEqual([
      ` … ${"a".repeat(32)}`,
      "new",
      `${"b".repeat(32)} … ${"b".repeat(32)}`,
      "c".repeat(500),
      "short",
    ]);
  });
});

const PATCH = `diff --git a/asr/schedule.py b/asr/schedule.py
index 4c1d0aa..9e77b21 100644
--- a/asr/schedule.py
+++ b/asr/schedule.py
@@ -31,2 +31,2 @@ class WarmupCosine:
     def scale(self):
--- a comment of SQL
+++ counter
`;

describe("uncommitted changes", () => {
  it("Z60 are counted, and a line that looks like a header inside a hunk is a line", () => {
    expect(readPatch(PATCH).map(({ kind }) => kind)).toEqual(
      "file file file file hunk same removed added".split(" "),
    );
    expect(describePatch(PATCH)).toBe("+1 −1 in asr/schedule.py");
    expect(describePatch(PATCH + PATCH)).toBe("+2 −2 in 2 files");
    expect(describePatch("what is this")).toBe("+0 −0");
  });

  it("Z60 are held against those of the baseline", () => {
    expect(comparePatches(PATCH, PATCH)).toEqual({ how: "same", lines: [] });
    expect(comparePatches("", PATCH)).toEqual({ how: "own", lines: readPatch(PATCH) });
    expect(comparePatches(PATCH, "")).toEqual({ how: "missing", lines: readPatch(PATCH) });
    const { how, lines } = comparePatches(PATCH, PATCH.replace("+++ counter", "+++ other"));
    expect(how).toBe("between");
    expect(
      lines.filter(({ kind }) => kind === "added" || kind === "removed").map(({ text }) => text),
    ).toEqual(["-+++ counter", "++++ other"]);
    const long = (word: string) => Array.from({ length: 5_000 }, (_, i) => `+${word} ${i}`).join("\n");
    expect(comparePatches(long("a"), long("b")).how).toBe("too different");
  });
});

describe("packages", () => {
  it("Z60 are found in every form that clients write", () => {
    const expected = new Map([
      ["torch", "2.6.0"],
      ["numpy", "2.1"],
    ]);
    for (const packages of [
      '{"torch":"2.6.0","numpy":"2.1"}',
      '["torch==2.6.0","numpy==2.1"]',
      "# pip\ntorch==2.6.0\n\nnumpy 2.1\n",
    ]) {
      expect(splitEnvironment({ packages, os: "Linux" })).toEqual({
        packages: expected,
        others: new Map([["os", "Linux"]]),
      });
    }
    expect(splitEnvironment({ packages: "7" }).packages).toEqual(new Map([["7", ""]]));
  });
});
