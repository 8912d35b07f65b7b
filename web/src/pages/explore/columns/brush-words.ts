import { formatNumber } from "#lang/words/numbers.ts";
import type { Brush } from "./brush.ts";
import type { ExploredColumn } from "./explored-column.ts";

const NAMED_MAX = 3;

export const figureText = (value: number) => formatNumber(value, { digits: 5 });

/** A short description of a brush. */
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

/** A value of a column as text. */
export function placeWords({ kind, values, categories }: ExploredColumn, row: number): string {
  const value = values[row]!;
  if (Number.isNaN(value)) return "none";
  return kind === "number" ? figureText(value) : categories[value]!.label;
}
