import { describe, expect, it } from "vitest";
import { compareValues } from "./compare-values.ts";

describe("compareValues", () => {
  it("G3 sorts numbers as numbers, then texts, then the rest, null last", () => {
    const sorted = [
      "-Infinity",
      "-2",
      "1",
      "1.0",
      "9",
      "10",
      "1e2",
      "Infinity",
      "NaN",
      '""',
      '"10"',
      '"9"',
      '"é"',
      '"\u{fffd}"',
      '"🐈"',
      "[1]",
      "false",
      "true",
      '{"a":1}',
      "null",
    ];
    for (const [i, a] of sorted.entries()) {
      for (const [j, b] of sorted.entries()) {
        expect(Math.sign(compareValues(a, b)), `${a} and ${b}`).toBe(Math.sign(i - j));
      }
    }
  });
});
