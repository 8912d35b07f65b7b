import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { limits } from "#lang/limits.ts";
import { checkArtifactName } from "./artifact-name.ts";
import { checkArtifactRecord, type ArtifactRecord } from "./artifact.ts";

const REFERENCE: ArtifactRecord = {
  name: "a",
  step: undefined,
  kind: "file",
  uri: "s3://x",
  content: undefined,
  mediaType: "",
  metadata: new Map(),
  sha256: undefined,
  sizeBytes: undefined,
};

const check = (parts: Partial<ArtifactRecord>) => checkArtifactRecord({ ...REFERENCE, ...parts });
const refused = (code: string, reason?: string) =>
  expect.objectContaining({ name: "CairnError", code, ...(reason !== undefined && { reason }) });

describe("names", () => {
  it.each([
    "a",
    "checkpoints/epoch-3.pt",
    "a b/c d.txt",
    "...",
    ".hidden",
    "a/..b/c..",
    "ünï/\u{1f4c8}.png",
    "%2e%2e/x",
    "\uff0e\uff0e/x",
    "\u2025/x",
    "ab:c",
    "a/c:x",
    "file:etc",
    "~/x",
    "$HOME",
    "CON",
    "x".repeat(1024),
    Array.from({ length: 32 }, () => "a").join("/"),
  ])("F8 takes %j as it is", (name) => {
    expect(checkArtifactName(name)).toBe(name);
  });

  it.each([
    "",
    "/",
    "/etc/passwd",
    "a/",
    "a//b",
    ".",
    "..",
    "../x",
    "a/../b",
    "a/./b",
    "a/..",
    "a\\b",
    "..\\x",
    "\\\\host\\share",
    "c:",
    "C:/x",
    "c:x",
    "file:///etc/passwd",
    "http://x",
    "a\u0000b",
    "a\nb",
    "a\u007f",
    "a\u0085",
    "a\u2028b",
    "\ud800",
    "x".repeat(1025),
    "é".repeat(513),
    Array.from({ length: 33 }, () => "a").join("/"),
  ])("F8 refuses %j", (name) => {
    expect(() => checkArtifactName(name)).toThrow(refused("invalid", "INVALID_NAME"));
  });
});

describe("records", () => {
  it("F1 have one canonical form, however they were written", () => {
    const one = check({
      metadata: new Map([
        ["b", " 1.0"],
        ["a", '{"y":1, "x":2}'],
      ]),
      step: -0,
    });
    const other = check({
      metadata: new Map([
        ["a", '{"x":2,"y":1}'],
        ["b", "1.0"],
      ]),
      step: 0,
    });
    expect([...one.metadata]).toEqual([...other.metadata]);
    expect([...one.metadata]).toEqual([
      ["a", '{"x":2,"y":1}'],
      ["b", "1.0"],
    ]);
    expect(Object.is(one.step, 0)).toBe(true);
    expect(one.mediaType).toBe("application/octet-stream");
  });

  it("F13 have the digest and size of their content", () => {
    const content = Buffer.from("content");
    const sha256 = createHash("sha256").update(content).digest("hex");
    const plain = check({ uri: undefined, content });
    expect(plain).toMatchObject({ sha256, sizeBytes: 7, uri: undefined });
    expect(check({ uri: undefined, content, sha256, sizeBytes: 7 })).toEqual(plain);
    const wrong = refused("invalid", "DIGEST_MISMATCH");
    expect(() => check({ uri: undefined, content, sha256: "0".repeat(64) })).toThrow(wrong);
    expect(() => check({ uri: undefined, content, sizeBytes: 8 })).toThrow(wrong);
  });

  it.each<[string, Partial<ArtifactRecord>, string]>([
    ["neither URI nor content", { uri: undefined }, "invalid"],
    ["URI and content", { content: new Uint8Array() }, "invalid"],
    ["an empty URI", { uri: "" }, "invalid"],
    ["a URI with a line break", { uri: "s3://x\ny" }, "invalid"],
    ["a URI too long", { uri: "x".repeat(limits.artifactUriBytesMax + 1) }, "exhausted"],
    ["a step that is not an integer", { step: 0.5 }, "invalid"],
    ["a step beyond 2^53", { step: 2 ** 54 }, "invalid"],
    ["no number as step", { step: Number.NaN }, "invalid"],
    ["a short digest", { sha256: "ab" }, "invalid"],
    ["a digest in capitals", { sha256: "A".repeat(64) }, "invalid"],
    ["half a byte", { sizeBytes: 0.5 }, "invalid"],
    ["less than no bytes", { sizeBytes: -1 }, "invalid"],
    ["an empty metadata key", { metadata: new Map([["", "1"]]) }, "invalid"],
    ["metadata that is not JSON", { metadata: new Map([["a", "nope"]]) }, "invalid"],
    ["a media type of one word", { mediaType: "text" }, "invalid"],
    ["a media type with a line break", { mediaType: "text/plain\r\nx: y" }, "invalid"],
    ["a media type that never ends", { mediaType: `text/${"x".repeat(300)}` }, "invalid"],
    [
      "too much inline content",
      { uri: undefined, content: new Uint8Array(limits.artifactInlineBytesMax + 1) },
      "exhausted",
    ],
    [
      "too much metadata",
      {
        metadata: new Map([
          ["a", `"${"x".repeat(40_000)}"`],
          ["b", `"${"x".repeat(30_000)}"`],
        ]),
      },
      "exhausted",
    ],
  ])("F1 are refused with %s", (_, parts, code) => {
    expect(() => check(parts)).toThrow(refused(code));
  });

  it.each([
    ["x.png", "image/png"],
    ["a/b.JSON", "application/json"],
    ["notes.txt", "text/plain; charset=utf-8"],
    ["archive.tar.gz", "application/gzip"],
    ["png", "application/octet-stream"],
    [".png", "application/octet-stream"],
    ["a.png/file", "application/octet-stream"],
    ["x.constructor", "application/octet-stream"],
  ])("F9 %s is guessed to be %s", (name, mediaType) => {
    expect(check({ name }).mediaType).toBe(mediaType);
  });

  it.each(["text/plain", 'text/plain; charset="utf-8"', "application/vnd.x+json;v=1", "a/b; c=d; e=f"])(
    "F9 keeps the media type %s",
    (mediaType) => {
      expect(check({ mediaType }).mediaType).toBe(mediaType);
    },
  );
});
