import type { CountedField } from "#core/explore/fields.ts";
import type { FieldKind } from "#core/ports/run-search.ts";
import type { Literal } from "#lang/query/ast.ts";
import { type CellReader, EMPTY } from "../cells/cells.ts";
import type { SelectedRows } from "../search/selected-rows.ts";
import { FIRST_TEXT, NUMBER, TRUE, type ValueColumn } from "../cells/value-column.ts";

/** Different values of one field that are counted: the first numbers that are seen, and the most frequent texts. */
const VALUES_MAX = 1_000;

/** How many of the rows have each value of a param or tag. undefined when none has any. */
export function countValues(
  kind: FieldKind,
  key: string,
  column: ValueColumn,
  rows: SelectedRows,
): CountedField | undefined {
  const { cells } = column;
  const byCode = new Uint32Array(column.codeCount);
  const byNumber = new Map<number, number>();
  let moreValues = false;
  for (const { lo, hi, offsets } of rows.blocks()) {
    const codes = cells.codesPart(lo, hi);
    const numbers = codes && cells.numbersPart(lo, hi, 0);
    if (codes === undefined) continue;
    for (const offset of offsets) {
      const code = codes[offset]!;
      byCode[code]!++;
      if (code !== NUMBER) continue;
      const number = numbers![offset]!;
      const count = byNumber.get(number);
      if (count !== undefined || byNumber.size < VALUES_MAX) byNumber.set(number, (count ?? 0) + 1);
      else moreValues = true;
    }
  }
  const values = new Map<Literal, number>(byNumber);
  const runs = byCode.reduce((sum, count, code) => (code === EMPTY ? sum : sum + count), 0);
  const { codes, isPart } = mostFrequent(byCode);
  moreValues ||= isPart;
  for (const code of codes) values.set(code < FIRST_TEXT ? code === TRUE : column.text(code), byCode[code]!);
  return runs === 0 ? undefined : { kind, key, runs, values, moreValues, numeric: runs === byCode[NUMBER] };
}

/** Codes of texts and bools that some row has. */
function mostFrequent(byCode: Uint32Array): { codes: readonly number[]; isPart: boolean } {
  const used: number[] = [];
  for (let code = NUMBER + 1; code < byCode.length; code++) if (byCode[code]! > 0) used.push(code);
  if (used.length <= VALUES_MAX) return { codes: used, isPart: false };
  // One number each, so that no function is called to compare them.
  const ranked = Float64Array.from(used, (code) => byCode[code]! * 2 ** 32 - code).sort();
  const codes = Array.from(
    ranked.subarray(-VALUES_MAX),
    (rank) => 2 ** 32 * Math.ceil(rank / 2 ** 32) - rank,
  );
  return { codes, isPart: true };
}

/** How many of the rows have a metric. undefined when none has. */
export function countMetric(key: string, cells: CellReader, rows: SelectedRows): CountedField | undefined {
  let runs = 0;
  for (const { lo, hi, offsets } of rows.blocks()) {
    const codes = cells.codesPart(lo, hi);
    if (codes === undefined) continue;
    for (const offset of offsets) if (codes[offset] !== EMPTY) runs++;
  }
  return runs === 0
    ? undefined
    : { kind: "metric", key, runs, values: new Map(), moreValues: false, numeric: true };
}
