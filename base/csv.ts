/** What a spreadsheet passes over before it looks for a formula: blanks, and characters that show nothing. */
const SKIPPED = String.raw`[\s\p{Cc}\p{Cf}]*`;
/** Begins a formula; the wide forms count in some languages. */
const SIGN = "[=+\\-@＝＋－＠]";
const FORMULA = new RegExp(`^(?:[\\t\\r\\n]|${SKIPPED}${SIGN})`, "u");
/** Where a cell was broken up its quotes count for nothing. */
const FORMULA_WITHIN = new RegExp(`^["\\s\\p{Cc}\\p{Cf}]*${SIGN}`, "u");
const NUMBER = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|Infinity)$/i;
/** What separates cells and rows where a spreadsheet does not split at commas: quotes do not hold there. */
const SEPARATOR = /([;\t\r\n])/;
const NEEDS_QUOTES = /[",;\r\n\t]|^\s|\s$/;

/**
 * Cells of one row as in RFC 4180, without the end of the line. Nothing in them becomes a formula, whether
 * the spreadsheet splits at commas, semicolons or tabs: what begins like one gets an apostrophe before it. A cell that
 * is a number stays one.
 *
 *   =1+1 → '=1+1     -0.5 → -0.5     1;=cmd|… → "1;'=cmd|…"
 */
export function csvRow(cells: readonly string[]): string {
  return cells.map(csvCell).join(",");
}

/** One cell of `csvRow`. */
export function csvCell(text: string): string {
  const safe = withoutFormulas(text);
  return NEEDS_QUOTES.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function withoutFormulas(text: string): string {
  if (NUMBER.test(text)) return text;
  const [first = "", ...rest] = text.split(SEPARATOR);
  const guarded = rest.map((part) => (FORMULA_WITHIN.test(part) ? `'${part}` : part));
  return `${FORMULA.test(text) ? "'" : ""}${first}${guarded.join("")}`;
}
