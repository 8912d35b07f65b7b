/**
 * Tables as Python's `tabulate` prints them in its style "simple", which is how TorchX prints: titles over dashes,
 * columns two spaces apart and two wider than their title, numbers to the right with their points in line. A
 * column holds numbers when each of its cells is one, also as a text. Unlike there, a cell has one line: what would
 * move the cursor is shown as an escape.
 */
import { formatG, pythonStr, type PythonValue } from "./python-text.ts";
import { padEnd, padStart, printable, widthOf } from "./text.ts";

const GAP = "  ";
const TITLE_PADDING = 2;

export function tabulate(titles: readonly string[], rows: readonly (readonly PythonValue[])[]): string {
  const columns = titles.map((title, i) =>
    column(
      title,
      rows.map((row) => row[i] ?? null),
    ),
  );
  const line = (cells: readonly string[]) => cells.join(GAP).trimEnd();
  return [
    line(columns.map(({ title }) => title)),
    line(columns.map(({ width }) => "-".repeat(width))),
    ...rows.map((_, i) => line(columns.map(({ cells }) => cells[i]!))),
  ].join("\n");
}

interface Column {
  title: string;
  cells: string[];
  width: number;
}

function column(title: string, values: readonly PythonValue[]): Column {
  const type = values.reduce<CellType>((most, value) => moreGeneric(most, typeOf(value)), "bool");
  const isNumber = type === "int" || type === "float";
  const texts = values.map((value) => (isNumber ? numberText(value, type) : printable(textOf(value)).trim()));
  const cells = isNumber ? alignPoints(texts) : texts;
  const width = cells.reduce((most, cell) => Math.max(most, widthOf(cell)), widthOf(title) + TITLE_PADDING);
  const pad = isNumber ? padStart : padEnd;
  return { title: pad(title, width), cells: cells.map((cell) => pad(cell, width)), width };
}

const TYPES = ["none", "bool", "int", "float", "text"] as const;
type CellType = (typeof TYPES)[number];

function moreGeneric(one: CellType, other: CellType): CellType {
  return TYPES[Math.max(TYPES.indexOf(one), TYPES.indexOf(other))]!;
}

function typeOf(value: PythonValue): CellType {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return Number.isSafeInteger(value) && !Object.is(value, -0) ? "int" : "float";
    case "string":
      return typeOfText(value);
    default:
      return value === null ? "none" : "text";
  }
}

const INTEGER = /^\s*[+-]?\d+(?:_\d+)*\s*$/;
const FLOAT = /^\s*[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+(?:_\d+)*)?\s*$/;
const THOUSANDS = /^(?:[+-]?\d{1,3}(?:,\d{3})*(?:\.\d*)?|\.\d+)$/;

function typeOfText(text: string): CellType {
  if (text === "") return "none";
  if (text === "True" || text === "False") return "bool";
  if (INTEGER.test(text) || (THOUSANDS.test(text) && !text.includes("."))) return "int";
  return isFloat(text) || THOUSANDS.test(text) ? "float" : "text";
}

function isFloat(text: string): boolean {
  if (["inf", "-inf", "nan"].includes(text.toLowerCase())) return true;
  return FLOAT.test(text) && Number.isFinite(asNumber(text));
}

function asNumber(text: string): number {
  const plain = text.replaceAll(/[,_]/g, "").trim().toLowerCase();
  if (plain.endsWith("inf")) return plain.startsWith("-") ? -Infinity : Infinity;
  return Number(plain);
}

function textOf(value: PythonValue): string {
  return value === null ? "" : pythonStr(value);
}

function numberText(value: PythonValue, type: "int" | "float"): string {
  if (value === null || value === "") return "";
  if (type === "int") return printable(pythonStr(value));
  if (typeof value !== "string") return formatG(Number(value));
  // Unlike the value, Python does not treat the word as a number.
  return value === "True" || value === "False" ? value : formatG(asNumber(value));
}

function alignPoints(texts: readonly string[]): string[] {
  const decimals = texts.map(afterPoint);
  const most = decimals.reduce((longest, each) => Math.max(longest, each), -1);
  return texts.map((text, i) => text + " ".repeat(most - decimals[i]!));
}

/** Characters behind the decimal point, or behind the "e" of a number without one; -1 for others. */
function afterPoint(text: string): number {
  if (INTEGER.test(text) || !(isFloat(text) || THOUSANDS.test(text))) return -1;
  const point = text.lastIndexOf(".");
  const at = point < 0 ? text.toLowerCase().lastIndexOf("e") : point;
  return at < 0 ? -1 : text.length - at - 1;
}
