import { describe, expect, it } from "vitest";
import { formatG, pythonRepr } from "./python-text.ts";
import { tabulate } from "./tabulate.ts";

const lines = (...each: string[]) => each.join("\n");

describe("tabulate", () => {
  it("X16 prints titles alone when there are no rows", () => {
    expect(tabulate(["ID", "VALUE"], [])).toBe(lines("ID    VALUE", "----  -------"));
  });

  it("X16 puts the points of numbers in line, and texts to the left", () => {
    const rows = [
      ["lr", 0.01],
      ["bs", 25],
      ["big", 1234567],
      ["text", "3.5"],
    ];
    expect(tabulate(["ID", "VALUE"], rows)).toBe(
      lines(
        "ID           VALUE",
        "----  ------------",
        "lr     0.01",
        "bs    25",
        "big    1.23457e+06",
        "text   3.5",
      ),
    );
  });

  it("X16 one text makes a column of texts", () => {
    const rows = [
      ["a", 1],
      ["b", "adam"],
      ["c", null],
      ["d", { x: [1.5, "it's", null, true] }],
    ];
    expect(tabulate(["ID", "VALUE"], rows)).toBe(
      lines(
        "ID    VALUE",
        "----  --------------------------------",
        "a     1",
        "b     adam",
        "c",
        `d     {'x': [1.5, "it's", None, True]}`,
      ),
    );
  });

  it("X16 what would move the cursor is shown as an escape", () => {
    const table = tabulate(["ID", "VALUE"], [["\u001b[2J\n", { "\u001b]0;x\u0007": "\u009b1m\u202e" }]]);
    expect(table).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(table.split("\n")).toHaveLength(3);
  });

  it.each([
    [0.1, "0.1"],
    [1e16, "1e+16"],
    [1e15 + 0.5, "1000000000000000.5"],
    [1e-5, "1e-05"],
    [0.0001, "0.0001"],
    [-0, "-0.0"],
    [1.5e300, "1.5e+300"],
    [NaN, "nan"],
    [-Infinity, "-inf"],
    [7, "7"],
    [2n ** 70n, "1180591620717411303424"],
    ["a'b", `"a'b"`],
    [`a'b"`, `'a\\'b"'`],
    ["\\\n\u0001", "'\\\\\\n\\x01'"],
  ])("X16 prints %s as Python does", (value, text) => {
    expect(pythonRepr(value)).toBe(text);
  });

  it.each([
    [100_000, "100000"],
    [999_999.5, "1e+06"],
    [0.000_123_456_78, "0.000123457"],
    [1e-5, "1e-05"],
    [0, "0"],
    [-0, "-0"],
    [12.5, "12.5"],
    [619_806_500, "6.19806e+08"],
    [619_807_500, "6.19808e+08"],
    [1_000_005, "1e+06"],
    [-2_500_025, "-2.50002e+06"],
  ])("X16 formats %s with six digits", (value, text) => {
    expect(formatG(value)).toBe(text);
  });
});
