import { describe, expect, it } from "vitest";
import { cutText, visibleLines, visibleText } from "./visible-text.ts";

describe("untrusted text", () => {
  it("Z70 shows invisible characters, and does not change the rest", () => {
    expect(visibleText("evil\u202Egpj.exe")).toBe("evil⟨U+202E⟩gpj.exe");
    expect(visibleText("a\u0000b\u001b[2Jc\u009b")).toBe("a⟨U+0000⟩b⟨U+001B⟩[2Jc⟨U+009B⟩");
    expect(visibleText("two\nlines\there")).toBe("two↵lines⇥here");
    expect(visibleText("zero\u200bwidth\ufeff\u00ad")).toBe("zero⟨U+200B⟩width⟨U+FEFF⟩⟨U+00AD⟩");
    expect(visibleText("half \ud83d pair \udc00")).toBe("half ⟨U+D83D⟩ pair ⟨U+DC00⟩");
    for (const same of ["מודל", "نموذج", "模型 7", "👩‍🔬 lab", "<b>&amp;</b>", "é", ""])
      expect(visibleText(same)).toBe(same);
  });

  it("Z70 keeps line ends where there are lines", () => {
    expect(visibleLines("a\n\tb\u202e\r")).toBe("a\n\tb⟨U+202E⟩⟨U+000D⟩");
  });

  it("Z70 limits the marks on a letter", () => {
    const marks = "\u0301".repeat(16);
    expect(visibleText(`a${marks}b`)).toBe(`a${marks}b`);
    expect(visibleLines(`a${"\u0301".repeat(1_016)}b`)).toBe(`a${marks}⟨1000 more marks⟩b`);
  });

  it("Z70 cuts between characters", () => {
    expect(cutText("short", 5)).toBe("short");
    expect(cutText("longer", 5)).toBe("long…");
    expect(cutText("abc👩def", 5)).toBe("abc…");
    expect(cutText("x".repeat(10_000), 100)).toHaveLength(100);
  });
});
