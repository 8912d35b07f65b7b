import { describe, expect, it } from "vitest";
import { countOf, formatBytes, formatNumber, formatPercentChange, shortCount } from "./numbers.ts";

describe("formatNumber", () => {
  it.each([
    [0, "0"],
    [-0, "-0"],
    [42, "42"],
    [-1_234_567, "-1,234,567"],
    [9_007_199_254_740_991, "9.007e15"],
    [12_345_678_901_234_567_890n, "12,345,678,901,234,567,890"],
    [0.1, "0.1"],
    [0.123456, "0.1235"],
    [-0.00123456, "-0.001235"],
    [0.00012346, "0.0001235"],
    [0.000012345, "1.234e-5"],
    [0.99999, "1"],
    [1.5, "1.5"],
    [2.34567, "2.346"],
    [123.456, "123.5"],
    [9999.7, "10,000"],
    [12345.678, "12,346"],
    [0.0123456, "0.01235"],
    [1.5e10 + 0.5, "15,000,000,001"],
    [1.5e15, "1.5e15"],
    [1e300, "1e300"],
    [NaN, "NaN"],
    [Infinity, "∞"],
    [-Infinity, "-∞"],
  ])("T18 writes %d as %s", (value, text) => expect(formatNumber(value)).toBe(text));

  it("T18 is off by less than half of the fourth digit", () => {
    for (let i = 0; i < 2_000; i++) {
      const value = (i % 2 === 0 ? 1 : -1) * 10 ** ((i % 41) / 2 - 10) * (1 + ((i * 7919) % 1000) / 111);
      expect(Math.abs(Number(formatNumber(value).replaceAll(",", "")) - value)).toBeLessThanOrEqual(
        Math.abs(value) * 5.001e-4,
      );
    }
  });
});

it("Z18 keeps the zeros at the end where digits are to line up", () => {
  const even = [0.5, 1, 12.3, 12345.678, 1e-9].map((value) => formatNumber(value, { even: true }));
  expect(even).toEqual(["0.5000", "1", "12.30", "12,346", "1.000e-9"]);
  expect(formatNumber(12.3456789, { digits: 5 })).toBe("12.346");
});

it("Z18 shortens a count only where there is no room", () => {
  expect([9_999, 12_840, 1_500_000].map(shortCount)).toEqual(["9,999", "12.8k", "1.5M"]);
});

it("T26, Z59: a change is a share of the value before, where that is useful", () => {
  const shares = [-0.25, 0.25, 0.00001, -0.0009, 0, 9.994, 10, -10, undefined, NaN];
  expect(shares.map(formatPercentChange)).toEqual([
    "-25.0 %",
    "+25.0 %",
    "+<0.1 %",
    "-<0.1 %",
    "0.0 %",
    "+999.4 %",
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

describe("formatBytes", () => {
  it.each([
    [0, "0 B"],
    [1023, "1023 B"],
    [1024, "1.0 KiB"],
    [83_866, "81.9 KiB"],
    [102_300, "99.9 KiB"],
    [102_400, "100 KiB"],
    [1_048_575, "1.0 MiB"],
    [107_374_182_400n, "100 GiB"],
  ])("T18 writes %d as %s", (bytes, text) => expect(formatBytes(bytes)).toBe(text));
});

it("T18 uses singular and plural", () => {
  expect([0, 1, 2, 1204].map((count) => countOf(count, "run"))).toEqual([
    "0 runs",
    "1 run",
    "2 runs",
    "1,204 runs",
  ]);
  expect(countOf(1n, "entry", "entries")).toBe("1 entry");
});
