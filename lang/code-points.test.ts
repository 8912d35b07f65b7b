import fc from "fast-check";
import { expect, test } from "vitest";
import { columnAt, compareCodePoints, loneSurrogateAt } from "./code-points.ts";

test("texts are ordered as their UTF-8 bytes are", () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "b", "é", "\ud7ff", "\ue000", "\uffff", "\u{10000}", "😀"),
  });
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareCodePoints(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test("columns count code points from 1", () => {
  expect([0, 1, 3, 4].map((index) => columnAt("a😀b", index))).toEqual([1, 2, 3, 4]);
});

test("a lone surrogate is found, a pair is not", () => {
  expect(loneSurrogateAt("a😀b")).toBe(-1);
  expect(loneSurrogateAt("a😀\udc00")).toBe(3);
  expect(loneSurrogateAt("\ud83d")).toBe(0);
});
