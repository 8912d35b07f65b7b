import { describe, expect, it } from "vitest";
import { cut, padEnd, printable, widthOf } from "./text.ts";
import { table } from "./table.ts";
import { treeLines } from "./tree.ts";

describe("untrusted text", () => {
  it.each([
    ["\u001b[31mred", "\\u001b[31mred"],
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["\u009b2J", "\\u009b2J"],
    ["a\nb\rc\td", "a\\nb\\u000dc d"],
    ["abc\u202Ecod.exe", "abc\\u202ecod.exe"],
    ["line\u2028sep", "line\\u2028sep"],
    ["grüße 日本", "grüße 日本"],
  ])("T16 shows %j as %j", (text, shown) => expect(printable(text)).toBe(shown));
});

describe("widths", () => {
  it.each([
    ["abc", 3],
    ["日本", 4],
    ["✓ finished ▁█ ±é…", 17],
    ["✔\ufe0f", 2],
    ["e\u0301", 1],
    ["👩‍👩‍👧", 2],
    ["\u001b[1mbold\u001b[22m", 4],
  ])("T17 measures %j as %d columns", (text, columns) => expect(widthOf(text)).toBe(columns));

  it("T17 cuts between characters, never beyond the width", () => {
    expect(cut("日本語", 5)).toBe("日本…");
    expect(cut("日本語", 4)).toBe("日…");
    expect(cut("abc", 3)).toBe("abc");
    expect(cut("✓ finished", 4)).toBe("✓ f…");
    expect(padEnd("日", 4)).toBe("日  ");
  });

  it("T17 fits a table to the terminal and cuts only what may be cut", () => {
    const columns = [
      { title: "name", shrink: true, minWidth: 4 },
      { title: "n", align: "right" as const },
    ];
    const rows = [
      ["a-very-long-name", "1"],
      ["b", "200"],
    ];
    expect(table(columns, rows, { colour: false, columns: 12 })).toBe(
      "name       n\na-very…    1\nb        200",
    );
    for (const line of table(columns, rows, { colour: false, columns: 12 }).split("\n")) {
      expect(widthOf(line)).toBeLessThanOrEqual(12);
    }
  });

  it("T9 draws a tree", () => {
    const leaf = (text: string) => ({ text, children: [] });
    const tree = { text: "a", children: [{ text: "b", children: [leaf("c")] }, leaf("d")] };
    expect(treeLines([tree, leaf("e")])).toEqual(["a", "├─ b", "│  └─ c", "└─ d", "e"]);
  });
});
