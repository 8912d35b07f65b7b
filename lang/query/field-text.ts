/** Fields as text, outside of a query: the columns of a search, what to group by, parts of an address. */
import type { Field, QueryField } from "./ast.ts";
import { Cursor, joinKey } from "./cursor.ts";
import { BARE_SEGMENT, type DraftToken, tokenizeDraft } from "./lexer.ts";
import { fieldOf, parseField } from "./parse-field.ts";
import { quoteText } from "./quote.ts";

/** Throws `invalid` (QUERY_SYNTAX) with the message of the parser for a text that is not exactly one field. */
export function readField(text: string): Field {
  const cursor = new Cursor(text, "field");
  const { field } = parseField(cursor);
  if (cursor.peek().kind !== "end") throw cursor.unexpected("the end");
  return field;
}

/** Undefined for a text that is not exactly one field. */
export function findField(text: string): Field | undefined {
  const [token, end] = tokenizeDraft(text);
  return end?.kind === "end" ? fieldOf(token!) : undefined;
}

/** Reads back as the same field, whatever its key holds. */
export function printField(field: QueryField): string {
  switch (field.of) {
    case "run":
      return field.name;
    case "param":
      return printPath("params", field.key);
    case "tag":
      return printPath("tags", field.key);
    case "metric":
      // Always with the statistic: the key may end with the name of one.
      return `${printPath("metrics", field.key)}.${field.stat}`;
    case "model":
      return `model.${field.name}`;
  }
}

/** A word and a key that are written like a field of the language, such as `line.loss` in an address. */
export function findPath(text: string): { root: string; key: string } | undefined {
  const [token, end] = tokenizeDraft(text);
  if (token?.kind !== "path" || end?.kind !== "end") return undefined;
  return { root: token.root, key: joinKey(token.segments) };
}

export function printPath(root: string, key: string): string {
  return `${root}.${key.split(".").map(printSegment).join(".")}`;
}

const BARE = new RegExp(`^${BARE_SEGMENT.source}$`, "u");

function printSegment(segment: string): string {
  return BARE.test(segment) ? segment : quoteText(segment);
}

/** The fields in a condition or an order, each once. Of a query with mistakes, those that can be read. */
export function mentionedFields(query: string): Field[] {
  const fields = tokenizeDraft(query).flatMap((token) => fieldOf(token) ?? []);
  return [...new Map(fields.map((field) => [printField(field), field])).values()];
}

/** The items of a list with commas, as they were typed; commas in quotes separate nothing. */
export function splitList(text: string): string[] {
  return splitAtCommas(tokenizeDraft(text)).map((item) => text.slice(item[0]!.at, item.at(-1)!.end));
}

/** What is between two commas or a comma and the end, unless it is nothing. */
export function splitAtCommas(tokens: readonly DraftToken[]): DraftToken[][] {
  const items: DraftToken[][] = [[]];
  for (const token of tokens) {
    if (token.kind === "end") break;
    if (token.kind === "symbol" && token.text === ",") items.push([]);
    else items.at(-1)!.push(token);
  }
  return items.filter((item) => item.length > 0);
}
