import { leafWord } from "#lang/json/leaf.ts";
import { JsonError, nodeEntries, parseJson, type JsonNode } from "#lang/json/parse.ts";
import { paint, padEnd, printable, widthOf } from "../output/text.ts";

const INDENT = "  ";
const LIST_WIDTH_MAX = 60;

/** Params as lines with nested ones below their key; values of one level are in one column. */
export function paramTree(params: Readonly<Record<string, string>>, colour: boolean): string[] {
  const entries = Object.keys(params)
    .sort()
    .map((key) => [key, parseParam(params[key]!)] as const);
  return levelLines(entries, "", colour);
}

/** A text that is not JSON is shown as text. */
function parseParam(text: string): JsonNode {
  try {
    return parseJson(text);
  } catch (thrown) {
    if (thrown instanceof JsonError) return { type: "text", source: JSON.stringify(text) };
    throw thrown;
  }
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
    const below = levelLines(nodeEntries(node), indent + INDENT, colour);
    return [`${indent}${paint(colour, "dim", key)}`].concat(below);
  });
}

/** A value for one line, or undefined for what is better shown as a tree. */
function inline(node: JsonNode): string | undefined {
  if (node.type === "object") return node.entries.size === 0 ? "{}" : undefined;
  if (node.type !== "list") return printable(leafWord(node));
  const items = node.items.map((item) => ("source" in item ? printable(leafWord(item)) : undefined));
  const text = `[${items.join(", ")}]`;
  return items.includes(undefined) || widthOf(text) > LIST_WIDTH_MAX ? undefined : text;
}
