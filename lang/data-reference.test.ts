import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { joinDataReference, splitDataReference } from "./data-reference.ts";

const HEX = "0a".repeat(32);

describe("splitDataReference", () => {
  it.each([
    ["s3://data/c4", "s3://data/c4", ""],
    ["s3://data/c4@v3", "s3://data/c4", "v3"],
    [`hf://squad@sha256:${HEX}`, "hf://squad", `sha256:${HEX}`],
    ["git@example.org:team/features.git", "git@example.org:team/features.git", ""],
    ["git@example.org:team/features.git@4f2a91c", "git@example.org:team/features.git", "4f2a91c"],
    ["s3://data/c4@", "s3://data/c4@", ""],
    ["@v3", "@v3", ""],
    ["", "", ""],
  ])("U200 reads %j", (text, location, version) => {
    expect(splitDataReference(text)).toEqual({ location, version });
  });
});

describe("joinDataReference", () => {
  it("U200 writes a version or a digest after the location", () => {
    expect(joinDataReference("s3://c4")).toBe("s3://c4");
    expect(joinDataReference("s3://c4", { version: "v3" })).toBe("s3://c4@v3");
    expect(joinDataReference("s3://c4", { digest: HEX.toUpperCase() })).toBe(`s3://c4@sha256:${HEX}`);
    expect(joinDataReference("s3://c4", { digest: `sha256:${HEX}` })).toBe(`s3://c4@sha256:${HEX}`);
  });

  it.each([
    ["", {}],
    ["s3://c4", { version: "" }],
    ["s3://c4", { version: "a/b" }],
    ["s3://c4", { version: "a@b" }],
    ["s3://c4", { digest: "12" }],
    ["s3://c4", { version: "v3", digest: HEX }],
  ])("U200 refuses %j with %j", (location, version) => {
    expect(() => joinDataReference(location, version)).toThrow(/cannot refer to data/);
  });

  it("U200 what was joined is split into the same", () => {
    const version = fc.string({ minLength: 1 }).filter((text) => !/[/@]/.test(text));
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), version, (location, given) => {
        const text = joinDataReference(location, { version: given });
        expect(splitDataReference(text)).toEqual({ location, version: given });
      }),
    );
  });
});
