import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BLOCK_ROWS, Cells, EMPTY } from "./cells.ts";
import { dose } from "../../../tools/dose.ts";

const LANES = 3;
const ROWS = 2 * BLOCK_ROWS + 100;

interface Cell {
  code: number;
  numbers: number[];
}

/** Like expect().toEqual, which would take minutes. */
function expectEqual(part: ArrayLike<number>, expected: readonly number[]): void {
  const at = expected.findIndex((value, offset) => !Object.is(part[offset], value));
  if (at >= 0) throw new Error(`offset ${at} holds ${part[at]}, not ${expected[at]}`);
}

/** The model: what a Map would hold. */
function expectSame(cells: Cells, model: ReadonlyMap<number, Cell>): void {
  expect(cells.filled).toBe(model.size);
  for (let lo = 0; lo < ROWS; lo += BLOCK_ROWS) {
    const hi = Math.min(lo + BLOCK_ROWS, ROWS);
    const rows = Array.from({ length: hi - lo }, (_, offset) => model.get(lo + offset));
    const codes = rows.map((cell) => cell?.code ?? EMPTY);
    expectEqual(cells.codesPart(lo, hi) ?? new Uint32Array(BLOCK_ROWS), codes);
    for (let lane = 0; lane < LANES; lane++) {
      const numbers = cells.numbersPart(lo, hi, lane) ?? new Float64Array(BLOCK_ROWS).fill(Number.NaN);
      expectEqual(
        numbers,
        rows.map((cell) => cell?.numbers[lane] ?? Number.NaN),
      );
    }
  }
  for (const row of [0, 1, BLOCK_ROWS - 1, BLOCK_ROWS, ROWS - 1]) {
    expect(cells.code(row)).toBe(model.get(row)?.code ?? EMPTY);
    expect(cells.number(row, LANES - 1)).toBe(model.get(row)?.numbers[LANES - 1] ?? Number.NaN);
  }
}

describe("cells", () => {
  it("hold the same as a map, sparse, dense and during conversion", () => {
    const number = fc.constantFrom(0, -0, 1.5, Number.NaN, Infinity);
    const numbers = fc.oneof(
      number.map((one) => [one, one, one]),
      fc.tuple(number, number, number),
    );
    const range = fc.record({
      first: fc.nat(ROWS - 1),
      length: fc.constantFrom(1, 2, BLOCK_ROWS / 3, BLOCK_ROWS + 9),
      stride: fc.constantFrom(1, 3, 50),
    });
    const change = fc.oneof(
      { weight: 3, arbitrary: fc.record({ range, code: fc.constantFrom(1, 2, 9), numbers }) },
      {
        weight: 2,
        arbitrary: fc.record({ range, code: fc.constant(EMPTY), numbers: fc.constant([0, 0, 0]) }),
      },
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const cells = new Cells(LANES);
        const model = new Map<number, Cell>();
        for (const {
          range: { first, length, stride },
          code,
          numbers: values,
        } of changes) {
          const entry = Float64Array.from(values);
          for (let row = first; row < Math.min(ROWS, first + length); row += stride) {
            const before = code === EMPTY ? cells.delete(row) : cells.set(row, code, entry);
            if (before !== (model.get(row)?.code ?? EMPTY)) throw new Error(`row ${row} held ${before}`);
            if (code === EMPTY) model.delete(row);
            else model.set(row, { code, numbers: values });
          }
        }
        expectSame(cells, model);
        cells.recode((code) => (code === 9 ? 3 : code));
        for (const cell of model.values()) if (cell.code === 9) cell.code = 3;
        expectSame(cells, model);
      }),
      { numRuns: dose(30, 300) },
    );
  });

  it("accept rows in falling order", () => {
    const cells = new Cells(1);
    for (let row = 2 * BLOCK_ROWS; row-- > 0;) cells.set(row, 1, Float64Array.of(row));
    expect(cells.filled).toBe(2 * BLOCK_ROWS);
    expect([...cells.numbersPart(BLOCK_ROWS, 2 * BLOCK_ROWS, 0)!]).toEqual(
      Array.from({ length: BLOCK_ROWS }, (_, offset) => BLOCK_ROWS + offset),
    );
  });

  it("have no part where there is no value", () => {
    const cells = new Cells(1);
    cells.set(5, 2, Float64Array.of(Number.NaN));
    expect(cells.codesPart(BLOCK_ROWS, BLOCK_ROWS + 9)).toBeUndefined();
    expect(cells.numbersPart(BLOCK_ROWS, BLOCK_ROWS + 9, 0)).toBeUndefined();
    cells.delete(5);
    expect(cells.codesPart(0, 9)).toBeUndefined();
  });

  it("copies no frozen block for a row without a value", () => {
    const cells = new Cells(LANES);
    cells.set(1, 1, new Float64Array(LANES));
    const [[, frozen]] = cells.freeze() as [[number, unknown]];
    const blockNow = () => (cells.freeze() as [[number, unknown]])[0][1];
    expect(cells.delete(2)).toBe(EMPTY);
    expect(blockNow()).toBe(frozen);
    cells.set(2, 1, new Float64Array(LANES));
    expect(blockNow()).not.toBe(frozen);
  });
});
