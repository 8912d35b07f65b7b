import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Seal } from "./seal.ts";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const numbers = fc.array(fc.maxSafeNat(), { minLength: 1, maxLength: 6 });

describe("sealed numbers", () => {
  it("H12 come back as they were, from the same process only", () => {
    const seal = new Seal();
    fc.assert(
      fc.property(numbers, (given) => {
        const text = seal.close(given);
        expect(text).toMatch(/^[\w-]+$/);
        expect(seal.open(text)).toEqual(given);
        expect(new Seal().open(text)).toBeUndefined();
      }),
    );
  });

  it("H12 show neither their size nor whether they are the same", () => {
    const seal = new Seal();
    expect(seal.close([1])).not.toBe(seal.close([1]));
    expect(seal.close([1])).toHaveLength(seal.close([Number.MAX_SAFE_INTEGER]).length);
  });

  it("H12 are refused when they were changed", () => {
    const seal = new Seal();
    const text = seal.close([7, 8]);
    for (const other of ["", "x", text.slice(1), text.slice(0, -2), `${text}AAAA`, `${text}=`, `${text}\n`]) {
      expect(seal.open(other), other).toBeUndefined();
    }
    const others = Array.from(ALPHABET, (last) => text.slice(0, -1) + last).filter((other) => other !== text);
    expect(others).toHaveLength(ALPHABET.length - 1);
    for (const other of others) expect(seal.open(other), other).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(seal.open(Buffer.from(bytes).toString("base64url"))).toBeUndefined();
      }),
    );
  });
});
