import type { RunColumn } from "#core/explore/run-table.ts";
import type { Literal } from "#lang/query/ast.ts";
import { EMPTY } from "../cells/cells.ts";
import type { Source } from "../search/compile.ts";
import type { SelectedRows } from "../search/selected-rows.ts";
import { FIRST_TEXT, NUMBER, TRUE, type ValueColumn } from "../cells/value-column.ts";

/** The values of some rows, in their order. undefined when none of them has one. */
export function readColumn(source: Source, rows: SelectedRows): RunColumn | undefined {
  const { column } = source;
  const found = column === undefined || column.onlyNumbers ? undefined : readCategories(source, column, rows);
  return found ?? readNumbers(source, rows);
}

function readNumbers({ cells, lane }: Source, rows: SelectedRows): RunColumn | undefined {
  const values = new Float64Array(rows.count).fill(Number.NaN);
  let isEmpty = true;
  for (const { lo, hi, offsets, place } of rows.blocks()) {
    const codes = cells.codesPart(lo, hi);
    const numbers = codes && cells.numbersPart(lo, hi, lane);
    if (numbers === undefined) continue;
    for (let at = 0; at < offsets.length; at++) {
      if (codes![offsets[at]!] === EMPTY) continue;
      isEmpty = false;
      values[place + at] = numbers[offsets[at]!]!;
    }
  }
  return isEmpty ? undefined : { kind: "number", values };
}

/** undefined when the rows hold only numbers. */
function readCategories(
  { cells, lane }: Source,
  column: ValueColumn,
  rows: SelectedRows,
): RunColumn | undefined {
  const values = new Float64Array(rows.count).fill(Number.NaN);
  const categories: Literal[] = [];
  const placeOfCode = new Map<number, number>();
  const placeOfNumber = new Map<number, number>();
  for (const { lo, hi, offsets, place } of rows.blocks()) {
    const codes = cells.codesPart(lo, hi);
    const numbers = codes && cells.numbersPart(lo, hi, lane);
    if (codes === undefined) continue;
    for (let at = 0; at < offsets.length; at++) {
      const code = codes[offsets[at]!]!;
      if (code === EMPTY) continue;
      const isNumber = code === NUMBER;
      const key = isNumber ? numbers![offsets[at]!]! : code;
      const known = isNumber ? placeOfNumber : placeOfCode;
      let category = known.get(key);
      if (category === undefined) {
        category = categories.push(isNumber ? key : valueOf(column, code)) - 1;
        known.set(key, category);
      }
      values[place + at] = category;
    }
  }
  return placeOfCode.size === 0 ? undefined : { kind: "category", values, categories };
}

function valueOf(column: ValueColumn, code: number): Literal {
  return code < FIRST_TEXT ? code === TRUE : column.text(code);
}
