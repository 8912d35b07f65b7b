/**
 * JSON with every number as it was written: 1 stays 1, 1.0 stays 1.0, 2^53 + 1 survives, and NaN and the infinities
 * are there as Python's json writes them. JSON.parse can do none of that.
 */
export type JsonNode =
  | JsonLeaf
  | { kind: "object"; entries: readonly (readonly [key: string, value: JsonNode])[] }
  | { kind: "list"; items: readonly JsonNode[] };

export interface JsonLeaf {
  kind: "leaf";
  /** As it was written: numbers digit by digit, texts in their quotes. */
  source: string;
  /** Of a text its content, of all else the source. */
  word: string;
  type: "number" | "text" | "bool" | "null";
}

/** Deeper than the server takes. */
const DEPTH_MAX = 200;
const TOKEN = /\s*([[\]{},:]|"(?:[^"\\]|\\.)*"|[^\s[\]{},:"]+)/y;
const NUMBER = /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|NaN|-?Infinity)$/;

/** A text that is no JSON is one leaf, as it is. */
export function parseJsonNode(text: string): JsonNode {
  const tokens = tokensOf(text);
  const at = { index: 0 };
  try {
    const node = parseValue(tokens, at, 0);
    if (at.index === tokens.length) return node;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  return { kind: "leaf", source: text, word: text, type: "text" };
}

/** Paths with dots to leaves, in the order of the text; empty objects and lists are leaves. */
function* leavesOf(node: JsonNode, path: string): Generator<[path: string, leaf: JsonLeaf]> {
  if (node.kind === "leaf") yield [path, node];
  else {
    const entries =
      node.kind === "object" ? node.entries : node.items.map((item, i) => [String(i), item] as const);
    for (const [key, value] of entries) yield* leavesOf(value, `${path}.${key}`);
    if (entries.length === 0) {
      const source = node.kind === "object" ? "{}" : "[]";
      yield [path, { kind: "leaf", source, word: source, type: "null" }];
    }
  }
}

/** All leaves of params as they travel. A flat key with dots wins over a nested one of the same path. */
export function paramLeaves(params: Readonly<Record<string, string>>): Map<string, JsonLeaf> {
  const flat = new Map<string, JsonLeaf>();
  const nested = new Map<string, JsonLeaf>();
  for (const key of Object.keys(params).sort()) {
    const node = parseJsonNode(params[key]!);
    if (node.kind === "leaf") flat.set(key, node);
    else for (const [path, leaf] of leavesOf(node, key)) nested.set(path, leaf);
  }
  const all = new Map([...nested, ...flat]);
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** For a person: texts without quotes, unless they would look like something else. */
export function leafWord({ type, word, source }: JsonLeaf): string {
  if (type !== "text") return source;
  return word === "" || NUMBER.test(word) || /^(?:true|false|null)$|^\s|\s$/.test(word) ? source : word;
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  let end = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    tokens.push(match[1]!);
    end = TOKEN.lastIndex;
  }
  return text.slice(end).trim() === "" ? tokens : [];
}

function parseValue(tokens: readonly string[], at: { index: number }, depth: number): JsonNode {
  if (depth > DEPTH_MAX) throw new SyntaxError("too deep");
  const token = tokens[at.index++];
  if (token === "{") {
    const entries = parseItems(tokens, at, "}", () => {
      const key = tokens[at.index++] ?? "";
      if (!key.startsWith('"') || tokens[at.index++] !== ":") throw new SyntaxError("no key");
      return [unquote(key), parseValue(tokens, at, depth + 1)] as const;
    });
    return { kind: "object", entries };
  }
  if (token === "[") {
    return { kind: "list", items: parseItems(tokens, at, "]", () => parseValue(tokens, at, depth + 1)) };
  }
  return leafOf(token ?? "");
}

function parseItems<T>(
  tokens: readonly string[],
  at: { index: number },
  close: string,
  parseItem: () => T,
): T[] {
  const items: T[] = [];
  if (tokens[at.index] === close) {
    at.index++;
    return items;
  }
  for (;;) {
    items.push(parseItem());
    const token = tokens[at.index++];
    if (token === close) return items;
    if (token !== ",") throw new SyntaxError("no comma");
  }
}

function leafOf(token: string): JsonLeaf {
  if (token.startsWith('"')) return { kind: "leaf", source: token, word: unquote(token), type: "text" };
  if (NUMBER.test(token)) return { kind: "leaf", source: token, word: token, type: "number" };
  if (token === "true" || token === "false")
    return { kind: "leaf", source: token, word: token, type: "bool" };
  if (token === "null") return { kind: "leaf", source: token, word: token, type: "null" };
  throw new SyntaxError("no value");
}

function unquote(token: string): string {
  return String(JSON.parse(token));
}
