import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Seal } from "#base/seal.ts";
import { cursorFromText, cursorToText, earliest, fingerprint, NOWHERE, type Cursor } from "./position.ts";

const HERE = { epoch: "0123456789ab", seal: new Seal() };
const THERE = { epoch: "ff0123456789", seal: new Seal() };
const number = fc.maxSafeNat();

describe("positions", () => {
  it("H4 are parsed from their text unchanged", () => {
    const cursor: fc.Arbitrary<Cursor> = fc.record({
      runs: number,
      points: number,
      part: fc.option(fc.record({ upTo: number, run: fc.nat(1_000), at: number }), { nil: undefined }),
    });
    fc.assert(
      fc.property(cursor, fc.nat(), (given, runs) => {
        const text = cursorToText(given, HERE, runs);
        expect(cursorFromText(text, HERE, runs)).toEqual({ cursor: given, partKnown: true, runs });
        expect(cursorFromText(text, THERE, runs)).toBeUndefined();
        expect(cursorFromText(text, HERE, runs + 1)?.partKnown).toBe(given.part === undefined);
      }),
    );
  });

  it("H12 of all sizes look alike, and never twice the same", () => {
    const textOf = (at: number) => cursorToText({ runs: at, points: at, part: undefined }, HERE, 0);
    expect(textOf(5)).toHaveLength(textOf(5_000_000_000).length);
    expect(textOf(5)).not.toBe(textOf(5));
  });

  it("H15 several begin where the earliest is, and a round that is left out begins again", () => {
    const at = (runs: number, points: number, part?: Cursor["part"]) => ({
      cursor: { runs, points, part },
      partKnown: part === undefined,
      runs: 7,
    });
    const part = { upTo: 9, run: 1, at: 8 };
    expect(earliest([])).toBeUndefined();
    expect(earliest([at(5, 6), at(3, 8), at(4, 7)])?.cursor).toEqual({ runs: 3, points: 6, part: undefined });
    expect(earliest([at(5, 6, part), at(3, 9)])).toEqual({ ...at(3, 6, part), partKnown: false });
    expect(earliest([at(5, 6, part), at(9, 5)])).toEqual(at(5, 5));
    // The round has brought the first run further than the other position.
    expect(earliest([at(5, 6, part), at(9, 8)])).toEqual(at(5, 6));
    expect(earliest([at(5, 6, part), at(9, 9)])?.cursor.part).toEqual(part);
    expect(earliest([at(5, 6), undefined])).toBeUndefined();
    expect(earliest([undefined, at(5, 6)])).toBeUndefined();
    expect(cursorFromText(NOWHERE, HERE, 0)).toBeUndefined();
  });

  it("H4 of an earlier version are of another journal", () => {
    for (const text of ["5f0c2a91b3de.2s.2s", "5f0c2a91b3de.2s.2s.2t.0.2t.3k2x"]) {
      expect(cursorFromText(text, HERE, 0)).toBeUndefined();
    }
  });

  it("H4 are of one list of runs", () => {
    expect(fingerprint(["a", "b"])).toBe(fingerprint(["a", "b"]));
    expect(fingerprint(["a", "b"])).not.toBe(fingerprint(["b", "a"]));
  });

  it("H9 are refused when they are invalid", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        fc.pre(!/^[0-9a-f]{1,64}(\.[\w-]{1,120}){1,6}$/.test(text));
        expect(() => cursorFromText(text, HERE, 0)).toThrow(/it is not one/);
      }),
    );
    for (const text of [`${HERE.epoch}.1.2.3`, `${HERE.epoch}.${THERE.seal.close([1, 2])}`]) {
      expect(() => cursorFromText(text, HERE, 0)).toThrow(/it is not one/);
    }
    expect(() => cursorFromText(`${HERE.epoch}.${HERE.seal.close([1])}`, HERE, 0)).toThrow(/it is not one/);
  });
});
