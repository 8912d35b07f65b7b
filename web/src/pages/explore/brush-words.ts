import { valueText } from "../../charts/value-text.ts";
import type { Brush } from "./brush.ts";
import type { ExploredColumn } from "./explored-column.ts";

const NAMED_MAX = 3;
const DIGITS = 5;

/** A number as people write it: 0.0003 rather than 3.000e-4. */
export function figureText(value: number): string {
  return Math.abs(value) >= 1e4 || !Number.isFinite(value)
    ? valueText(value)
    : String(Number(value.toPrecision(DIGITS)));
}

/** What a brush asks for, in a few words. */
export function brushWords(column: ExploredColumn, { from, to, of, none }: Brush): string {
  const words: string[] = [];
  if (from !== undefined && to !== undefined)
    words.push(from === to ? figureText(from) : `${figureText(from)} – ${figureText(to)}`);
  else if (from !== undefined) words.push(`≥ ${figureText(from)}`);
  else if (to !== undefined) words.push(`≤ ${figureText(to)}`);
  if (of !== undefined) {
    const labels = of.map((key) => column.categories.find((each) => each.key === key)?.label ?? key);
    words.push(...labels.slice(0, NAMED_MAX));
    if (labels.length > NAMED_MAX) words.push(`${labels.length - NAMED_MAX} more`);
  }
  if (none) words.push("none");
  return words.join(", ");
}

/** A value of a column as people read it. */
export function placeWords({ kind, values, categories }: ExploredColumn, row: number): string {
  const value = values[row]!;
  if (Number.isNaN(value)) return "none";
  return kind === "number" ? figureText(value) : categories[value]!.label;
}
