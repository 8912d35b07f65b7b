import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { CairnError } from "./errors.ts";
import { limits } from "./limits.ts";
import { ancestors, isUnder, parseNamespace } from "./namespace-path.ts";

const ID = "0123456789abcdef0123456789abcdef";

function refused(act: () => unknown): CairnError {
  try {
    act();
  } catch (thrown) {
    if (thrown instanceof CairnError) return thrown;
    throw thrown;
  }
  throw new Error("expected a refusal");
}

/** Any valid path, built from the rules and not with parseNamespace. */
const segment = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 8 })
  .filter((text) => !/[/\\\p{Cc}\p{Zl}\p{Zp}]/u.test(text) && text !== "." && text !== "..")
  .map((text) => text.slice(0, 8))
  .filter((text) => text.isWellFormed());
const path = fc
  .array(segment, { minLength: 1, maxLength: 6 })
  .map((segments) => segments.join("/"))
  .filter((text) => Buffer.byteLength(text) <= limits.namespacePathBytesMax);

describe("parseNamespace", () => {
  it.each([
    "a",
    "langtech/asr/en_wav2vec",
    "a b/c",
    "ünï/程",
    "...",
    "a/.hidden",
    "A".repeat(32),
    "0".repeat(31),
  ])("accepts %j", (text) => {
    expect(parseNamespace(text)).toBe(text);
  });

  it.each([
    ["/a", 'begins with "/"'],
    ["a/", 'ends with "/"'],
    ["/", 'begins with "/"'],
    ["a//b", "empty segment"],
    [".", 'segment is "."'],
    ["a/../b", 'segment is ".."'],
    ["a\\b", "backslash"],
    ["a\nb", "control character"],
    ["a\u0000", "control character"],
    ["a\u007Fb", "control character"],
    ["a\u0085b", "control character"],
    ["a\u2028b", "control character"],
    ["a\uD800", "well-formed"],
    [ID, "run id"],
    [`a/${ID}/b`, "run id"],
  ])("refuses %j", (text, cause) => {
    const error = refused(() => parseNamespace(text));
    expect(error.code).toBe("invalid");
    expect(error.message).toMatch(/^cannot use namespace "/);
    expect(error.message).toContain(cause);
    expect(error.hint).toBeTruthy();
  });

  it("accepts the root only where it is allowed", () => {
    expect(parseNamespace("", { root: true })).toBe("");
    expect(refused(() => parseNamespace("")).code).toBe("invalid");
    expect(refused(() => parseNamespace("/", { root: true })).code).toBe("invalid");
  });

  it("accepts depth and bytes at their limits and refuses one more", () => {
    const deep = Array.from({ length: limits.namespaceDepthMax }, () => "d").join("/");
    expect(parseNamespace(deep)).toBe(deep);
    expect(refused(() => parseNamespace(`${deep}/d`)).message).toContain("17 segments");

    const long = "é".repeat(limits.namespacePathBytesMax / 2);
    expect(parseNamespace(long)).toBe(long);
    expect(refused(() => parseNamespace(`${long}x`)).message).toContain("513 bytes");
  });

  it("does not repeat an endless text in its message", () => {
    expect(refused(() => parseNamespace("x".repeat(1 << 20))).message.length).toBeLessThan(400);
  });

  it("returns every valid path unchanged", () => {
    fc.assert(fc.property(path, (text) => parseNamespace(text) === text));
  });

  it("never returns a path that breaks a rule", () => {
    const piece = fc.constantFrom("a", "/", "\\", ".", "..", "\n", "\u0000", ID, "é", "\uD800", " ");
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = pieces.join("");
        let parsed: string;
        try {
          parsed = parseNamespace(text);
        } catch (thrown) {
          expect(CairnError.from(thrown).code).toBe("invalid");
          return;
        }
        for (const part of parsed.split("/")) {
          expect(["", ".", ".."]).not.toContain(part);
          expect(part).not.toMatch(/[\\\p{Cc}]/u);
          expect(part).not.toMatch(/^[0-9a-f]{32}$/);
        }
      }),
    );
  });
});

describe("ancestors", () => {
  it("goes from the root down to the parent", () => {
    expect(ancestors("a/b/c")).toEqual(["", "a", "a/b"]);
    expect(ancestors("a")).toEqual([""]);
    expect(ancestors("")).toEqual([]);
  });

  it("lists exactly what the path is under, besides itself", () => {
    fc.assert(
      fc.property(path, (text) => {
        const above = ancestors(text);
        expect(above).toHaveLength(text.split("/").length);
        for (const one of above) {
          expect(isUnder(text, one)).toBe(true);
          expect(isUnder(one, text)).toBe(false);
        }
      }),
    );
  });
});

describe("isUnder", () => {
  it.each([
    ["langtech", "langtech", true],
    ["langtech/asr", "langtech", true],
    ["langtechX", "langtech", false],
    ["langtechX/asr", "langtech", false],
    ["langtech", "langtech/asr", false],
    ["lang/tech", "langtech", false],
    ["anything", "", true],
    ["", "", true],
    ["", "a", false],
  ])("%j under %j is %s", (text, prefix, answer) => {
    expect(isUnder(text, prefix)).toBe(answer);
  });

  it("agrees with comparing segments", () => {
    const few = fc.array(fc.constantFrom("a", "b", "ab"), { maxLength: 4 });
    fc.assert(
      fc.property(few, few, (one, two) => {
        const expected = two.every((part, index) => one[index] === part);
        expect(isUnder(one.join("/"), two.join("/"))).toBe(expected);
      }),
    );
  });
});
