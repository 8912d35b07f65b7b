import fc from "fast-check";
import { describe, expect, it } from "vitest";
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

  it("Z58 are complete in the marked pieces, for any texts", () => {
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

  it("Z58 are not marked where marks would not help", () => {
    expect(diffTokens("adam", "sgd")).toBeUndefined();
    expect(diffTokens("a".repeat(40), "b".repeat(40))).toBeUndefined();
    expect(diffTokens("", "something that is long enough")).toBeUndefined();
    const words = (from: number) => Array.from({ length: 3_000 }, (_, i) => `w${from + i}`).join(" ");
    const begun = cpuMs();
    expect(diffTokens(words(0), words(5_000))).toBeUndefined();
    expect(diffTokens("x ".repeat(20_000), "y ".repeat(20_000))).toBeUndefined();
    expect(cpuMs() - begun).toBeLessThan(2_000);
  });

  it("Z58 leave out long equal parts", () => {
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
