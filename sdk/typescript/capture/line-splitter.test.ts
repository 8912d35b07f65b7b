import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LINE_BYTES_MAX, LineSplitter } from "./line-splitter.ts";

function split(...chunks: (string | Uint8Array)[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) splitter.write(chunk);
  splitter.end();
  return lines;
}

describe("LineSplitter", () => {
  const cases: [chunks: string[], lines: string[]][] = [
    [["a\nb\n"], ["a", "b"]],
    [
      ["a", "b\nc"],
      ["ab", "c"],
    ],
    [
      ["a\n", "\n", "b"],
      ["a", "", "b"],
    ],
    [["a\r\nb\r\n"], ["a", "b"]],
    [
      ["a\r", "\nb"],
      ["a", "b"],
    ],
    [["10%\r20%\r30%\n"], ["30%"]],
    [["\r10%", "\r20%", "\r30%", "\n"], ["30%"]],
    [
      ["10%\r", "20%\r", "30%\r", "\nend"],
      ["30%", "end"],
    ],
    [["10%\r\r\r", "\n"], ["10%"]],
    [["10%\r"], ["10%"]],
    [["10%\r", "\r", "20%"], ["20%"]],
    [["\r\n\r\n"], ["", ""]],
    [[""], []],
  ];
  it.each(cases)("C34 makes of %j the lines %j", (chunks, lines) => {
    expect(split(...chunks)).toEqual(lines);
  });

  it("C34 gives the same lines however the bytes are cut", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "b", "\n", "\r", "é", "漢", "😀", "\t"),
      maxLength: 60,
    });
    fc.assert(
      fc.property(text, fc.array(fc.nat(200), { maxLength: 6 }), (whole, cuts) => {
        const bytes = Buffer.from(whole);
        const places = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)), bytes.length].sort(
          (a, b) => a - b,
        );
        const pieces = places.slice(1).map((end, at) => bytes.subarray(places[at], end));
        const lines = whole.split("\n").map((line) => line.replace(/\r+$/, "").replace(/^.*\r/s, ""));
        if (lines.at(-1) === "") lines.pop();
        expect(split(...pieces)).toEqual(lines);
        expect(split(...Array.from(whole))).toEqual(lines);
      }),
      { numRuns: 2000 },
    );
  });

  it("C34 cuts a long line, says how much is missing, and continues with the next", () => {
    for (const one of ["x", "漢", "😀"]) {
      const [long, next] = split(...Array.from({ length: 300 }, () => one.repeat(1000)), "\nnext\n");
      expect(Buffer.byteLength(long!)).toBeLessThanOrEqual(LINE_BYTES_MAX);
      expect(Buffer.byteLength(long!)).toBeGreaterThan(LINE_BYTES_MAX - 128);
      const cut = Number(/ … \[(\d+) characters cut\]$/.exec(long!)?.[1]);
      expect(long!.indexOf(" …") + cut).toBe(300_000 * one.length);
      expect(next).toBe("next");
    }
    expect(split("x".repeat(LINE_BYTES_MAX))).toEqual(["x".repeat(LINE_BYTES_MAX)]);
  });

  it("C34 forgets that a state was too long once the next one overwrites it", () => {
    expect(split("x".repeat(100_000), "\rshort\n")).toEqual(["short"]);
  });

  it("C34 makes valid text of any bytes", () => {
    expect(split("a\ud800b\n")).toEqual(["a\ufffdb"]);
    expect(split(Buffer.from([0x61, 0xff, 0x0a]))).toEqual(["a\ufffd"]);
    expect(split(Buffer.from([0xc3]), "b\n")).toEqual(["\ufffdb"]);
    expect(split(Buffer.from([0xe6, 0xbc]))).toEqual(["\ufffd"]);
  });
});
