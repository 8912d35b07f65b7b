// A cell that begins so is a formula to a spreadsheet, whatever its quotes; the wide forms count in some.
const FORMULA = /^[\s]*[=+\-@\t\r\n＝＋－＠]/;
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** Rows as RFC 4180 wants them. Text that a spreadsheet would run gets a "'" in front; numbers stay numbers. */
export function csvRow(cells: readonly string[]): string {
  return cells.map(csvCell).join(",");
}

function csvCell(value: string): string {
  const isFormula = FORMULA.test(value) && !NUMBER.test(value) && value !== "-Infinity";
  const safe = isFormula ? `'${value}` : value;
  return /[",;|\r\n\t']|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
