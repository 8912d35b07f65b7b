import { describe, expect, it } from "vitest";
import { ansiPieces, plainLine } from "./ansi.ts";

describe("a log line", () => {
  it("Z45 keeps colours and drops other control sequences", () => {
    expect(ansiPieces("\u001b[1;31merror\u001b[0m: \u001b[38;5;200mx\u001b[2J\u001b]0;title\u0007y")).toEqual(
      [{ text: "error", colour: 1, bold: true }, { text: ": " }, { text: "x" }, { text: "y" }],
    );
    expect(ansiPieces("\u001b[92mok\u001b[39m \u001b[1mb\u001b[22mt")).toEqual([
      { text: "ok", colour: 2 },
      { text: " " },
      { text: "b", bold: true },
      { text: "t" },
    ]);
    expect(plainLine("\u001b[31mred\u001b[m \u001b[Aup")).toBe("red up");
  });

  it("Z45 shows the last state of a progress bar", () => {
    expect(ansiPieces("10 %\r50 %\r100 %\r")).toEqual([{ text: "100 %" }]);
  });

  it("Z45 makes invisible characters visible", () => {
    expect(ansiPieces("a\u0007b\u202ec\td\u001b")).toEqual([{ text: "a⟨U+0007⟩b⟨U+202E⟩c    d⟨U+001B⟩" }]);
  });

  it("Z45 cuts a very long line and marks the cut", () => {
    const [piece] = ansiPieces("x".repeat(64_000));
    expect(piece.text).toHaveLength("x".repeat(20_000).length + " … (44000 more)".length);
  });
});
