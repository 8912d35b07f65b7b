import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRow } from "./csv.ts";

const FORMULAS = [
  "=1+1",
  "=cmd|' /C calc'!A0",
  "+1+cmd",
  "-1+1",
  "@SUM(A1)",
  "\t=1",
  "\r=1",
  "\n=1",
  "  =1",
  "＝1+1",
  '=HYPERLINK("http://x","y")',
  "-",
  "+",
];

describe("csvRow", () => {
  it.each(FORMULAS)("T22, S20: %j is no formula", (text) => {
    const [cell] = parseCsv(csvRow([text]))[0]!;
    expect(cell).toBe(`'${text}`);
  });

  it.each(["-1", "+1", "-0.5", "1e-3", "-1.5E+10", "-Infinity", "NaN", "a-b", "x=1", ""])(
    "T22 leaves %j as it is",
    (text) => {
      expect(csvRow([text])).toBe(text);
    },
  );

  it("T22 is read back as what it was by anybody who knows RFC 4180", () => {
    const harmless = fc.string({ unit: "grapheme" }).map((text) => `x${text}`);
    fc.assert(
      fc.property(fc.array(fc.array(harmless, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
        expect(parseCsv(rows.map(csvRow).join("\n"))).toEqual(rows);
      }),
    );
  });
});

/** RFC 4180, with plain line ends. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  for (;;) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; text[at] !== '"' || text[at + 1] === '"'; at++) {
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    } else for (; at < text.length && text[at] !== "," && text[at] !== "\n"; at++) cell += text[at];
    rows.at(-1)!.push(cell);
    if (at >= text.length) return rows;
    if (text[at++] === "\n") rows.push([]);
  }
}
