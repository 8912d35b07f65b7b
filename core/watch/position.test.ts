import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cursorFromText, cursorToText, fingerprint, type Cursor } from "./position.ts";

const EPOCH = "0123456789ab";
const number = fc.maxSafeNat();

describe("positions", () => {
  it("H4 come back from their text as they were", () => {
    const cursor: fc.Arbitrary<Cursor> = fc.record({
      runs: number,
      points: number,
      part: fc.option(fc.record({ upTo: number, run: fc.nat(1_000), at: number }), { nil: undefined }),
    });
    fc.assert(
      fc.property(cursor, fc.nat(), (given, runs) => {
        const now = { epoch: EPOCH, position: Number.MAX_SAFE_INTEGER };
        const text = cursorToText(given, EPOCH, runs);
        expect(cursorFromText(text, now, runs)).toEqual({ cursor: given, known: true, partKnown: true });
        expect(cursorFromText(text, { ...now, epoch: "ff" }, runs).known).toBe(false);
        expect(cursorFromText(text, now, runs + 1).partKnown).toBe(given.part === undefined);
      }),
    );
  });

  it("H5 beyond what has happened say nothing", () => {
    const text = cursorToText({ runs: 5, points: 6, part: undefined }, EPOCH, 0);
    expect(cursorFromText(text, { epoch: EPOCH, position: 5 }, 0).known).toBe(false);
    expect(cursorFromText(text, { epoch: EPOCH, position: 6 }, 0).known).toBe(true);
  });

  it("H4 are of one list of runs", () => {
    expect(fingerprint(["a", "b"])).toBe(fingerprint(["a", "b"]));
    expect(fingerprint(["a", "b"])).not.toBe(fingerprint(["b", "a"]));
  });

  it("H9 are refused when they are none", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!/^[0-9a-f]{1,64}(\.[0-9a-z]{1,11}){2,6}$/.test(text));
        expect(() => cursorFromText(text, { epoch: EPOCH, position: 5 }, 0)).toThrow(/it is none/);
      }),
    );
    expect(() => cursorFromText(`${EPOCH}.1.2.3`, { epoch: EPOCH, position: 5 }, 0)).toThrow(/it is none/);
  });
});
