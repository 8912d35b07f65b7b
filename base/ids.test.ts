import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { newRunId, newToken } from "./ids.ts";
import { isRunId } from "./run-id.ts";

describe("newRunId", () => {
  it("is 32 lower-case hex digits that begin with the time", () => {
    expect(newRunId(0x0123_4567_89ab)).toMatch(/^0123456789ab[0-9a-f]{20}$/);
    expect(newRunId(0)).toMatch(/^0{12}[0-9a-f]{20}$/);
    expect(newRunId(2 ** 48 - 1)).toMatch(/^f{12}[0-9a-f]{20}$/);
  });

  it("ignores a fraction of a millisecond", () => {
    expect(newRunId(1_700_000_000_000.9).slice(0, 12)).toBe(newRunId(1_700_000_000_000).slice(0, 12));
  });

  it("sorts by time", () => {
    const time = fc.integer({ min: 0, max: 2 ** 48 - 1 });
    fc.assert(
      fc.property(time, time, (a, b) => {
        fc.pre(a !== b);
        expect(newRunId(a) < newRunId(b)).toBe(a < b);
      }),
    );
  });

  it("does not repeat itself within a millisecond, also after one pool of random bytes is used up", () => {
    const ids = new Set<string>();
    for (let i = 0; i < 10_000; i += 1) ids.add(newRunId(1_700_000_000_000));
    expect(ids.size).toBe(10_000);
  });

  it.each([-1, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])("refuses the time %s", (time) => {
    expect(() => newRunId(time)).toThrow(RangeError);
    expect(() => newRunId(time)).toThrow(RangeError);
  });

  it("makes ids that isRunId knows", () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 48 - 1 }), (time) => isRunId(newRunId(time))));
  });
});

describe("isRunId", () => {
  it.each([
    "",
    "0".repeat(31),
    "0".repeat(33),
    "A".repeat(32),
    "g".repeat(32),
    `${"0".repeat(31)}\n`,
    `${"0".repeat(32)}\n`,
    `${"0".repeat(8)}-${"0".repeat(23)}`,
    "٠".repeat(32),
  ])("is false for %j", (text) => {
    expect(isRunId(text)).toBe(false);
  });

  it("is true for 32 lower-case hex digits", () => {
    expect(isRunId("0123456789abcdef0123456789abcdef")).toBe(true);
  });
});

describe("newToken", () => {
  it("is the prefix and 256 bits of base64url", () => {
    const token = newToken("cairn_");
    expect(token).toMatch(/^cairn_[A-Za-z0-9_-]{43}$/);
    expect(Buffer.from(token.slice(6), "base64url")).toHaveLength(32);
  });

  it("is another one each time", () => {
    expect(new Set(Array.from({ length: 1000 }, () => newToken(""))).size).toBe(1000);
  });
});
