import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { LogLineSchema } from "#proto/cairn/v1/log_pb.ts";
import { LineText, readable } from "./line-text.ts";
import { lineMatcher } from "./line-matcher.ts";

const line = (text: string, rank?: number) =>
  create(LogLineSchema, { text, ...(rank !== undefined && { rank }), timeUs: 1_000_000n });
const plain = { colour: false, timestamps: false, raw: false };

describe("LineText", () => {
  it("T29 names ranks only where there are several", () => {
    const text = new LineText(plain);
    text.see([line("a", 0)]);
    expect(text.of(line("a", 0))).toBe("a");
    text.see([line("b", 12), line("c")]);
    expect([line("a", 0), line("b", 12), line("c")].map((one) => text.of(one))).toEqual([
      " 0 │ a",
      "12 │ b",
      "   │ c",
    ]);
  });

  it("T29 puts the time in front when asked", () => {
    expect(new LineText({ ...plain, timestamps: true }).of(line("a"))).toBe("1970-01-01T00:00:01.000Z a");
  });

  it("T16 untrusted lines cannot control the terminal", () => {
    expect(readable("\u001b[31mred\u001b[0m \u001b]0;title\u0007x\u0008\u202e")).toBe("red x\\u0008\\u202e");
    expect(new LineText({ ...plain, raw: true }).of(line("\u001b[31mred"))).toBe("\u001b[31mred");
  });

  it("T29 shows the final state of a progress bar", () => {
    expect(readable(" 10 %\r 50 %\r100 %\r")).toBe("100 %");
  });
});

describe("lineMatcher", () => {
  const selection = { runId: "", filter: {} };
  it.each([
    [{ text: "Err", ignoreCase: false }, [true, false]],
    [{ text: "err", ignoreCase: true }, [true, true]],
    [{ text: ".", ignoreCase: true }, [false, false]],
    [{ regex: "^E", ignoreCase: false }, [true, false]],
    [{ regex: "^E", ignoreCase: true }, [true, true]],
    [{ ignoreCase: false }, [true, true]],
  ])("T29 selects with %j what a search would", (pattern, expected) => {
    const matches = lineMatcher({ ...selection, ...pattern });
    expect(["Error", "error"].map(matches)).toEqual(expected);
  });

  it("T29 refuses a bad pattern", () => {
    expect(() => lineMatcher({ ...selection, regex: "(", ignoreCase: false })).toThrow(
      'cannot use pattern "("',
    );
  });
});
