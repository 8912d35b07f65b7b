import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvRow } from "./csv.ts";

/** A text, and what the cell holds once a spreadsheet has read it. */
const FORMULAS: readonly (readonly [text: string, cell: string])[] = [
  ["=1+1", "'=1+1"],
  ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ["+1+cmd", "'+1+cmd"],
  ["-1+1", "'-1+1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["  =1", "'  =1"],
  ["\u00a0=1", "'\u00a0=1"],
  ["\ufeff=1", "'\ufeff=1"],
  ["\u200b=1", "'\u200b=1"],
  ["\u0001=1", "'\u0001=1"],
  ["＝1+1", "'＝1+1"],
  ["＋1", "'＋1"],
  ["－1+1", "'－1+1"],
  ["＠SUM(A1)", "'＠SUM(A1)"],
  ['=HYPERLINK("http://x","y")', `'=HYPERLINK("http://x","y")`],
  ["-", "'-"],
  ["+", "'+"],
  ["\tplain", "'\tplain"],
  ["\rplain", "'\rplain"],
  ["\t=1", "'\t'=1"],
  ["\r=1", "'\r'=1"],
  ["\n=1", "'\n'=1"],
  ["1;=cmd|' /C calc'!A0", "1;'=cmd|' /C calc'!A0"],
  ["1; =cmd", "1;' =cmd"],
  ['1;"=cmd"', `1;'"=cmd"`],
  ["a\t@SUM(A1)", "a\t'@SUM(A1)"],
  ["a\r\n+1+cmd;-2+3", "a\r\n'+1+cmd;'-2+3"],
  ["1;-2;=3", "1;'-2;'=3"],
  ["-2;x", "'-2;x"],
];

const CORPUS: readonly string[] = FORMULAS.map(([text]) => text);

describe("csvRow", () => {
  it.each(FORMULAS)("T22, Z14, Z102, S20: %j is not a formula", (text, cell) => {
    expect(parseCsv(csvRow([text]), ",")).toEqual([[cell]]);
  });

  it.each([",", ";", "\t"])(
    "Z102, S20: no cell is a formula where a spreadsheet splits at %j",
    (separator) => {
      for (const text of [
        ...CORPUS,
        ...CORPUS.flatMap((one) => [`x;${one}`, `x\t${one}`, `"${one}`, `x\n${one}`]),
      ]) {
        for (const cells of [[text], ["a", text], ["a", text, "b"], [text, text]]) {
          for (const cell of parseCsv(csvRow(cells), separator).flat()) {
            expect(isFormula(cell), JSON.stringify([cells, cell])).toBe(false);
          }
        }
      }
    },
  );

  it.each(["-1", "+1", "-0.5", "-.5", "1e-5", "-1.5E+10", "-Infinity", "NaN", "a-b", "x=1", ""])(
    "T22, Z102: leaves %j as it is",
    (text) => {
      expect(csvRow([text])).toBe(text);
    },
  );

  it("T22 is read back unchanged by a parser of RFC 4180", () => {
    const harmless = fc.string({ unit: "grapheme" }).map((text) => `x${text.replaceAll(/[;\t\r\n]/g, ",")}`);
    fc.assert(
      fc.property(fc.array(fc.array(harmless, { minLength: 2, maxLength: 4 }), { minLength: 1 }), (rows) => {
        expect(parseCsv(rows.map(csvRow).join("\n"), ",")).toEqual(rows);
      }),
    );
  });
});

/** What a spreadsheet would compute. */
function isFormula(cell: string): boolean {
  return /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u.test(cell) && Number.isNaN(Number(cell));
}

/** RFC 4180 with any separator. Quotes count only where they begin a cell; what follows the closing one belongs to it. */
function parseCsv(text: string, separator: string): string[][] {
  const rows: string[][] = [[]];
  let at = 0;
  for (;;) {
    let cell = "";
    if (text[at] === '"') {
      for (at++; at < text.length && (text[at] !== '"' || text[at + 1] === '"'); at++) {
        if (text[at] === '"') at++;
        cell += text[at];
      }
      at++;
    }
    while (at < text.length && text[at] !== separator && text[at] !== "\n") cell += text[at++];
    rows.at(-1)!.push(cell);
    if (at >= text.length) return rows;
    if (text[at++] === "\n") rows.push([]);
  }
}
