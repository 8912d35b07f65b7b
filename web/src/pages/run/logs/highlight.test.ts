import { describe, expect, it } from "vitest";
import { highlight } from "./highlight.ts";

describe("the searched text", () => {
  it.each([
    ["Loss = loss", "LOSS", "[Loss] = [loss]"],
    ["aaa", "aa", "[aa]a"],
    ["nothing", "x", "nothing"],
    ["all", "", "all"],
    ["İstanbul i", "i", "İstanbul i"],
    ["", "x", ""],
  ])("Z46 is marked in %j", (text, find, drawn) => {
    const parts = highlight(text, find);
    expect(parts.map((part) => (part.isMatch ? `[${part.text}]` : part.text)).join("")).toBe(drawn);
    expect(parts.map((part) => part.text).join("")).toBe(text);
  });
});
