import fc from "fast-check";
import { expect, test } from "vitest";
import { CairnError } from "#lang/errors.ts";
import { decodePath, parseTarget } from "#wire/kit/path.ts";

test.each([
  ["/", []],
  ["/a", ["a"]],
  ["/a/b%20c/%C3%A9", ["a", "b c", "é"]],
  ["/a%2Fb", ["a/b"]],
  ["/%252e%252e/x", ["%2e%2e", "x"]],
  ["/%25", ["%"]],
  ["/...", ["..."]],
  ["/a..b/.hidden", ["a..b", ".hidden"]],
])("%j is decoded once", (path, segments) => {
  expect(decodePath(path)).toEqual(segments);
});

test.each([
  "/..",
  "/a/../b",
  "/%2e%2e",
  "/.%2E/x",
  "/a%2F..%2Fb",
  "/a%2f..",
  "/.",
  "/%2e",
  "/a\\b",
  "/a%5Cb",
  "/..%5c..%5c",
  "/a%00b",
  "/%0a",
  "/%7f",
  "/%C2%85",
  "/%E2%80%A8",
  "/a//b",
  "/a/",
  "//",
  "/a%2F",
  "/%2Fetc",
  "/%",
  "/%2",
  "/%zz",
  "/%FF",
  "/%C0%AE%C0%AE",
  "/%ED%A0%80",
  "/a b",
  "/é",
  "/a#b",
  `/${"a/".repeat(100)}`,
])("%j is refused", (path) => {
  expect(() => decodePath(path)).toThrow(CairnError);
});

test("S2: an accepted path has no dot, control or empty segment", () => {
  const bit = fc.constantFrom(
    "..",
    ".",
    "/",
    "\\",
    "%2e",
    "%2F",
    "%5c",
    "%00",
    "%25",
    "a",
    "%",
    "%C0%AE",
    ";",
    ":",
  );
  const path = fc.array(bit, { maxLength: 12 }).map((bits) => `/${bits.join("")}`);
  fc.assert(
    fc.property(path, (text) => {
      let segments: string[];
      try {
        segments = decodePath(text);
      } catch (error) {
        expect((error as CairnError).code).toBe("invalid");
        return;
      }
      for (const part of segments.join("/").split("/")) {
        if (segments.length > 0) expect([".", "..", ""]).not.toContain(part);
        expect(part).not.toMatch(/[\p{Cc}\\]/u);
      }
    }),
    { numRuns: 2_000 },
  );
});

test("names round-trip through a path", () => {
  const name = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter(
      (text) =>
        !/[\p{Cc}\\\u2028\u2029]/u.test(text) && !text.split("/").some((part) => /^\.{0,2}$/.test(part)),
    );
  fc.assert(
    fc.property(name, (text) => {
      expect(decodePath(`/${encodeURIComponent(text)}`)).toEqual([text]);
    }),
  );
});

test.each([undefined, "", "*", "http://evil.example/a", "a", "?x"])("target %j is refused", (url) => {
  expect(() => parseTarget(url)).toThrow(CairnError);
});

test("a target is split at the first question mark", () => {
  expect(parseTarget("/a/b?c=d?e")).toEqual({ path: "/a/b", query: "c=d?e" });
  expect(parseTarget("/a")).toEqual({ path: "/a", query: "" });
  expect(() => parseTarget(`/${"a".repeat(9_000)}`)).toThrow("over 8192 bytes");
});
