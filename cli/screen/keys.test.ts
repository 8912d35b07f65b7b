import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseKeys } from "./keys.ts";

describe("parseKeys", () => {
  it.each([
    ["q", ["q"]],
    ["jé日", ["j", "é", "日"]],
    ["\u001b[A\u001b[B", ["up", "down"]],
    ["\u001bOA", ["up"]],
    ["\r\u007f\t", ["enter", "backspace", "tab"]],
    ["\u0003", ["ctrl-c"]],
    ["\u001b[5~x", ["page-up", "x"]],
    ["\u001b[1;5Zq", ["q"]],
    ["\u001b\u001b[A", ["escape", "up"]],
    ["\u001bq", ["escape", "q"]],
  ])("T46 reads %j", (input, keys) => {
    expect(parseKeys(input)).toEqual({ keys, rest: "" });
  });

  it("T46 waits for the rest of a sequence that is cut anywhere", () => {
    const whole = "a\u001b[A\u001b[6~b\u001bOD";
    fc.assert(
      fc.property(fc.nat(whole.length), (at) => {
        const first = parseKeys(whole.slice(0, at));
        const second = parseKeys(first.rest + whole.slice(at));
        expect([...first.keys, ...second.keys]).toEqual(["a", "up", "page-down", "b", "left"]);
        expect(second.rest).toBe("");
      }),
    );
  });

  it("T46 takes any input to its end", () => {
    const piece = fc.constantFrom("\u001b", "[", "O", "A", "1", ";", "~", " ", "q", "日", "\u0003", "\u009b");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const { rest } = parseKeys(pieces.join(""));
        expect(rest === "" || (rest.startsWith("\u001b") && rest.length <= 34)).toBe(true);
      }),
    );
  });
});
