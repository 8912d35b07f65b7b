export interface CsvTable {
  head: readonly string[];
  rows: readonly (readonly string[])[];
  /** Whether there is more than is shown. */
  isCut: boolean;
}

const ROWS_MAX = 1_000;
const COLUMNS_MAX = 100;

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
  const endField = (field: string) => {
    if (row.length < COLUMNS_MAX) row.push(field);
    else isCut = true;
  };
  while (at < text.length) {
    if (rows.length > ROWS_MAX) {
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
  let field = "";
  let at = start;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return [field + text.slice(at), text.length];
    field += text.slice(at, end);
    if (text[end + 1] !== '"') return [field, end + 1];
    field += '"';
    at = end + 2;
  }
}
