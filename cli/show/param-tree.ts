import { paint, padEnd, printable, widthOf } from "../output/text.ts";
import { leafWord, parseJsonNode, type JsonNode } from "../runs/json-node.ts";

const INDENT = "  ";
const LIST_WIDTH_MAX = 60;

/** Params as lines with nested ones below their key; values of one level stand in one column. */
export function paramTree(params: Readonly<Record<string, string>>, colour: boolean): string[] {
  const entries = Object.keys(params)
    .sort()
    .map((key) => [key, parseJsonNode(params[key]!)] as const);
  return levelLines(entries, "", colour);
}

function levelLines(
  entries: readonly (readonly [key: string, node: JsonNode])[],
  indent: string,
  colour: boolean,
): string[] {
  const short = entries.map(([key, node]) => [printable(key), node, inline(node)] as const);
  const width = short.reduce((most, [key, , text]) => {
    return text === undefined ? most : Math.max(most, Math.min(28, widthOf(key)));
  }, 0);
  return short.flatMap(([key, node, text]) => {
    if (text !== undefined) {
      return [`${indent}${paint(colour, "dim", padEnd(key, width))}  ${text}`];
    }
    const below = node.kind === "object" ? node.entries : numbered(node);
    return [`${indent}${paint(colour, "dim", key)}`].concat(levelLines(below, indent + INDENT, colour));
  });
}

function numbered(node: JsonNode): (readonly [string, JsonNode])[] {
  return node.kind === "list" ? node.items.map((item, i) => [String(i), item] as const) : [];
}

/** A value for one line, or undefined for what is better shown as a tree. */
function inline(node: JsonNode): string | undefined {
  if (node.kind === "leaf") return printable(leafWord(node));
  if (node.kind === "object") return node.entries.length === 0 ? "{}" : undefined;
  const items = node.items.map((item) => (item.kind === "leaf" ? printable(leafWord(item)) : undefined));
  const text = `[${items.join(", ")}]`;
  return items.includes(undefined) || widthOf(text) > LIST_WIDTH_MAX ? undefined : text;
}
