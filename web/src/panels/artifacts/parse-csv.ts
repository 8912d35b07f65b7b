export interface CsvTable {
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Whether there is more than is shown. */
  isCut: boolean;
}

const ROWS_MAX = 1_000;
const COLUMNS_MAX = 100;
/** A wide table has fewer rows, because the limit is for cells. */
const CELLS_MAX = 5_000;

/** A table as text: fields in quotes may hold separators, line ends and doubled quotes. Tabs separate if the first line has any. */
export function parseCsv(text: string): CsvTable {
  const firstLine = /^[^\r\n]*/.exec(text)![0];
  const separator = firstLine.includes("\t")
    ? "\t"
    : !firstLine.includes(",") && firstLine.includes(";")
      ? ";"
      : ",";
  const rows: string[][] = [];
  let row: string[] = [];
  let isCut = false;
  let at = 0;
  let cells = 0;
  const endField = (field: string) => {
    if (row.length < COLUMNS_MAX) {
      row.push(field);
      cells += 1;
    } else isCut = true;
  };
  while (at < text.length) {
    if (rows.length > ROWS_MAX || (row.length === 0 && cells >= CELLS_MAX)) {
      isCut = true;
      break;
    }
    let field: string;
    if (text[at] === '"') {
      [field, at] = quoted(text, at + 1);
    } else {
      const start = at;
      while (at < text.length && text[at] !== separator && text[at] !== "\n" && text[at] !== "\r") at++;
      field = text.slice(start, at);
    }
    endField(field);
    if (text[at] === separator) {
      at++;
      if (at === text.length) endField("");
      continue;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    rows.push(row);
    row = [];
  }
  if (row.length > 0) rows.push(row);
  const [head = [], ...body] = rows;
  return { head, rows: body.slice(0, ROWS_MAX), isCut };
}

/** The field that begins after a quote, and where it ends. What follows the closing quote belongs to it up to a separator. */
function quoted(text: string, start: number): [string, number] {
  let end = text.indexOf('"', start);
  while (end >= 0 && text[end + 1] === '"') end = text.indexOf('"', end + 2);
  if (end < 0) end = text.length;
  return [text.slice(start, end).replaceAll('""', '"'), end + 1];
}
