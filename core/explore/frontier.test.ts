import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { frontierOf } from "./frontier.ts";

const value = fc.oneof(fc.integer({ min: -4, max: 4 }), fc.constantFrom(Number.NaN, Infinity));

describe("the frontier", () => {
  it("M4 holds exactly the runs that no other beats, whichever way is better", () => {
    const goals = fc.tuple(fc.integer({ min: 2, max: 4 }), fc.nat(30)).chain(([count, rows]) =>
      fc.array(
        fc.record({
          maximize: fc.boolean(),
          values: fc.array(value, { minLength: rows, maxLength: rows }),
        }),
        { minLength: count, maxLength: count },
      ),
    );
    fc.assert(
      fc.property(goals, (given) => {
        const isIn = (row: number) => given.every(({ values }) => Number.isFinite(values[row]));
        const gain = (a: number, b: number) =>
          given.map(({ values, maximize }) => (maximize ? 1 : -1) * (values[a]! - values[b]!));
        const beats = (a: number, b: number) => {
          const gains = gain(a, b);
          return gains.every((each) => each >= 0) && gains.some((each) => each > 0);
        };
        const rows = [...given[0]!.values.keys()].filter(isIn);
        const plain = rows.filter((row) => !rows.some((other) => beats(other, row)));
        const columns = given.map(({ values, maximize }) => ({
          values: Float64Array.from(values),
          maximize,
        }));
        const found = frontierOf(columns, () => undefined);
        expect(found.runs).toBe(rows.length);
        expect(found.rows.toSorted((a, b) => a - b)).toEqual(plain);
        for (const [place, row] of found.rows.entries()) {
          if (place > 0) expect(gain(row, found.rows[place - 1]!)[0]).toBeLessThanOrEqual(0);
        }
      }),
    );
  });

  it("M4 can be aborted", () => {
    const values = new Float64Array(1_000).map((_, i) => i);
    const stop = () => {
      throw new Error("stop");
    };
    expect(() =>
      frontierOf(
        [
          { values, maximize: false },
          { values, maximize: true },
        ],
        stop,
      ),
    ).toThrow("stop");
  });
});
