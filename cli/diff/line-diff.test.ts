import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineEdits, unifiedDiff } from "./line-diff.ts";
import { cpuMs } from "#base/cpu-ms.ts";

const line = fc.constantFrom("a", "b", "c", "d");
const text = fc.array(line, { maxLength: 30 });

describe("lineEdits", () => {
  it("T26 turns the one text into the other", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const edits = lineEdits(a, b);
        expect(edits.filter(({ sign }) => sign !== "+").map((edit) => edit.line)).toEqual(a);
        expect(edits.filter(({ sign }) => sign !== "-").map((edit) => edit.line)).toEqual(b);
      }),
    );
  });

  it("T26 changes as few lines as can be", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const changed = lineEdits(a, b).filter(({ sign }) => sign !== " ").length;
        expect(changed).toBe(a.length + b.length - 2 * longestCommon(a, b));
      }),
    );
  });

  it("T26 gives up on texts that have too little in common, in time", () => {
    const a = Array.from({ length: 20_000 }, (_, i) => `a${i}`);
    const b = Array.from({ length: 20_000 }, (_, i) => `b${i}`);
    const started = cpuMs();
    expect(lineEdits(a, b)).toHaveLength(40_000);
    expect(cpuMs() - started).toBeLessThan(5_000);
  });
});

describe("unifiedDiff", () => {
  it("T26 has hunks as diff -u prints them", () => {
    const a = Array.from({ length: 20 }, (_, i) => `line ${i + 1}`);
    const b = a.with(4, "other");
    expect(unifiedDiff(a, b, 1)).toEqual(["@@ -4,3 +4,3 @@", " line 4", "-line 5", "+other", " line 6"]);
    expect(unifiedDiff([], ["x"])).toEqual(["@@ -0,0 +1 @@", "+x"]);
    expect(unifiedDiff(a, a)).toEqual([]);
  });
});

/** By the book, to have something to compare with. */
function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = [0, ...b.map(() => 0)];
  for (const one of a) {
    const next = [0];
    for (const [j, other] of b.entries()) {
      next.push(one === other ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!));
    }
    row = next;
  }
  return row.at(-1)!;
}
