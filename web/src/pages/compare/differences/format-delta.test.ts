import { describe, expect, it } from "vitest";
import { formatDelta } from "./format-delta.ts";

describe("how far a number is from the baseline", () => {
  it("Z59 is a share of it, or the difference where a share would not be useful", () => {
    const textOf = (base: number, value: number) =>
      formatDelta(value - base, base === 0 ? undefined : (value - base) / Math.abs(base));
    expect(textOf(2, 1.5)).toBe("−25.0 %");
    expect(textOf(-2, -1.5)).toBe("+25.0 %");
    expect(textOf(1, 1.00001)).toBe("+<0.1 %");
    expect(textOf(0, -0.5)).toBe("−0.5");
    expect(textOf(0.001, 5)).toBe("+4.999");
    expect(textOf(3, 3)).toBe("0.0 %");
  });
});
