import { describe, expect, it } from "vitest";
import type { ErrorCode } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import {
  requireAliases,
  requireAtMost,
  requireKey,
  requireLabels,
  requireParams,
  requireTags,
  requireText,
  requireTime,
} from "./check.ts";

function refused(code: ErrorCode) {
  return expect.objectContaining({ name: "CairnError", code });
}

const HALF = "\ud83d";

describe("checks of single values", () => {
  it.each([
    ["", 0],
    ["abc", 3],
    ["äöü", 6],
    ["🐈", 4],
  ])("a text of %j fits into %i bytes and into no fewer", (text, bytes) => {
    expect(requireText(text, bytes, "name")).toBe(text);
    if (bytes > 0) expect(() => requireText(text, bytes - 1, "name")).toThrow(refused("exhausted"));
  });

  it("gives the size of a text and the limit, without repeating all of it", () => {
    try {
      requireText("x".repeat(5_000), 10, "name");
      expect.unreachable();
    } catch (thrown) {
      expect(thrown).toMatchObject({ reason: "LIMIT_EXCEEDED", facts: { limit: "10" } });
      const { message } = thrown as Error;
      expect(message).toContain("5000 bytes are more than 10");
      expect(message.length).toBeLessThan(400);
    }
  });

  it("refuses half of a surrogate pair wherever a text may be", () => {
    const invalid = refused("invalid");
    expect(() => requireText(HALF, 100, "name")).toThrow(invalid);
    expect(() => requireKey(HALF, "key")).toThrow(invalid);
    expect(() => requireLabels([["a", HALF]], "k")).toThrow(invalid);
    expect(() => requireTags(new Map([["a", HALF]]))).toThrow(invalid);
    expect(() => requireAliases([HALF])).toThrow(invalid);
    expect(() => requireParams(new Map([["a", `"${HALF}"`]]))).toThrow(invalid);
  });

  it.each(["a", "train/loss", "__proto__", "a.b{c}", "🐈", "ключ", " "])("takes key %j", (key) => {
    expect(requireKey(key, "metric key")).toBe(key);
  });

  it.each(["", "a\u0000", "\n", "a\u001fb", "\u007f"])("refuses key %j", (key) => {
    expect(() => requireKey(key, "metric key")).toThrow(refused("invalid"));
  });

  it("refuses a key that is too long", () => {
    expect(requireKey("x".repeat(limits.keyBytesMax), "metric key")).toHaveLength(limits.keyBytesMax);
    expect(() => requireKey("ä".repeat(257), "metric key")).toThrow(refused("exhausted"));
  });

  it("sorts labels by name", () => {
    expect(
      requireLabels(
        [
          ["b", "2"],
          ["a", ""],
          ["B", "3"],
        ],
        "k",
      ),
    ).toEqual([
      ["B", "3"],
      ["a", ""],
      ["b", "2"],
    ]);
    expect(requireLabels([], "k")).toEqual([]);
  });

  it("refuses labels that are too many, too long, empty, duplicate or hold a control character", () => {
    const many = (count: number): [string, string][] =>
      Array.from({ length: count }, (_, i) => [`l${i}`, ""]);
    expect(requireLabels(many(limits.labelsMax), "k")).toHaveLength(limits.labelsMax);
    expect(() => requireLabels(many(limits.labelsMax + 1), "k")).toThrow(refused("exhausted"));
    expect(() => requireLabels([["a", "x".repeat(limits.labelBytesMax + 1)]], "k")).toThrow(
      refused("exhausted"),
    );
    expect(() => requireLabels([["x".repeat(limits.labelBytesMax + 1), ""]], "k")).toThrow(
      refused("exhausted"),
    );
    expect(() => requireLabels([["", "x"]], "k")).toThrow(refused("invalid"));
    expect(() => requireLabels([["a", "\u0001"]], "k")).toThrow(refused("invalid"));
    const twice: [string, string][] = [
      ["a", "1"],
      ["b", "1"],
      ["a", "2"],
    ];
    expect(() => requireLabels(twice, "k")).toThrow(refused("invalid"));
  });

  it("V8 makes canonical text of params", () => {
    const params = new Map([
      ["a", " 1.0 "],
      ["__proto__", '{"b":2,"a":1}'],
    ]);
    expect(requireParams(params)).toEqual(
      new Map([
        ["a", "1.0"],
        ["__proto__", '{"a":1,"b":2}'],
      ]),
    );
  });

  it("W3 refuses more params, tags and aliases than a run may have", () => {
    const many = (count: number) => new Map(Array.from({ length: count }, (_, i) => [`k${i}`, "1"]));
    expect(() => requireParams(many(limits.paramsPerRunMax + 1))).toThrow(refused("exhausted"));
    expect(() => requireTags(many(limits.tagsPerRunMax + 1))).toThrow(refused("exhausted"));
    expect(() => requireAliases([...many(limits.aliasesPerRunMax + 1).keys()])).toThrow(refused("exhausted"));
    const long = `"${"x".repeat(limits.paramValueBytesMax)}"`;
    const anyRefusal = expect.objectContaining({ name: "CairnError" });
    expect(() => requireParams(new Map([["a", long]]))).toThrow(anyRefusal);
    const deep = "[".repeat(limits.paramNestingMax + 1) + "]".repeat(limits.paramNestingMax + 1);
    expect(() => requireParams(new Map([["a", deep]]))).toThrow(anyRefusal);
  });

  it("names every alias once", () => {
    expect(requireAliases(["b", "a", "b"])).toEqual(["b", "a"]);
    expect(() => requireAliases([""])).toThrow(refused("invalid"));
  });

  it.each([0, -1, 1_767_225_600_000_000, Number.MAX_SAFE_INTEGER])("takes time %d", (timeUs) => {
    expect(requireTime(timeUs, "time")).toBe(timeUs);
  });

  it.each([0.5, NaN, Infinity, 2 ** 53])("V3 refuses time %d", (timeUs) => {
    expect(() => requireTime(timeUs, "time")).toThrow(refused("invalid"));
  });

  it("counts to the limit", () => {
    expect(() => requireAtMost(3, 3, "things")).not.toThrow();
    expect(() => requireAtMost(4, 3, "things")).toThrow(/cannot accept things: 4 are more than 3/);
  });
});
