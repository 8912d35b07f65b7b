/**
 * Params as rows: nested objects as paths with dots, and each value twice, as it was written and as what it means. `1` and `1.0` are written differently and are the
 * same number; `"1"` is another thing; 9007199254740993 is not its neighbour, which JSON.parse would make of it.
 */
export interface Value {
  /** For a person. */
  text: string;
  /** Equal for values that mean the same, and only for those. */
  identity: string;
}

type Node = { entries: [key: string, node: Node][] } | { value: Value };

/** Deeper than the server takes. */
const DEPTH_MAX = 64;
const SPACE = /\s*/y;
const TEXT = /"(?:[^"\\]|\\.)*"/y;
const WORD = /[^\s,\]}:"[{]+/y;
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$|^NaN$|^-?Infinity$/;
const WHOLE = /^-?\d+$/;

/** By path. A key that has dots itself wins over a nested one that comes out the same. */
export function paramLeaves(params: Readonly<Record<string, string>>): Map<string, Value> {
  const nested = new Map<string, Value>();
  const flat = new Map<string, Value>();
  for (const [key, json] of Object.entries(params)) {
    const node = parseParam(json);
    if ("value" in node) flat.set(key, node.value);
    else collect(node, key, nested);
  }
  return new Map([...nested, ...flat]);
}

function collect(node: Node, path: string, into: Map<string, Value>): void {
  if ("value" in node) into.set(path, node.value);
  else if (node.entries.length === 0) into.set(path, { text: "{}", identity: "{}" });
  else for (const [key, child] of node.entries) collect(child, `${path}.${key}`, into);
}

/** Text that is no JSON is a value as it is. */
function parseParam(json: string): Node {
  const parser = new Parser(json);
  try {
    const node = parser.node(0);
    if (parser.atEnd()) return node;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown;
  }
  return { value: { text: json, identity: `?${json}` } };
}

class Parser {
  readonly #json: string;
  #at = 0;

  constructor(json: string) {
    this.#json = json;
  }

  atEnd(): boolean {
    this.#take(SPACE);
    return this.#at === this.#json.length;
  }

  node(depth: number): Node {
    if (depth > DEPTH_MAX) throw new SyntaxError("too deep");
    this.#take(SPACE);
    const first = this.#json[this.#at];
    if (first === "{") {
      const entries: [string, Node][] = [];
      this.#items("}", () => {
        this.#take(SPACE);
        const key = unquote(this.#take(TEXT));
        this.#take(SPACE);
        if (this.#json[this.#at++] !== ":") throw new SyntaxError("no colon");
        entries.push([key, this.node(depth + 1)]);
      });
      return { entries };
    }
    if (first === "[") {
      const start = this.#at;
      const identities: string[] = [];
      this.#items("]", () => identities.push(identityOf(this.node(depth + 1))));
      const text = this.#json.slice(start, this.#at);
      return { value: { text, identity: `[${identities.join(",")}]` } };
    }
    if (first === '"') return { value: textValue(this.#take(TEXT)) };
    return { value: wordValue(this.#take(WORD)) };
  }

  #items(close: string, item: () => void): void {
    this.#at++;
    this.#take(SPACE);
    if (this.#json[this.#at] === close) {
      this.#at++;
      return;
    }
    for (;;) {
      item();
      this.#take(SPACE);
      const end = this.#json[this.#at++];
      if (end === close) return;
      if (end !== ",") throw new SyntaxError("no comma");
    }
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#json)?.[0];
    if (found === undefined) throw new SyntaxError(`nothing fits at ${this.#at}`);
    this.#at += found.length;
    return found;
  }
}

function identityOf(node: Node): string {
  if ("value" in node) return node.value.identity;
  return `{${node.entries.map(([key, child]) => `${JSON.stringify(key)}:${identityOf(child)}`).join(",")}}`;
}

/** In quotes where it would look like something else. */
function textValue(source: string): Value {
  const text = unquote(source);
  const plain =
    text !== "" && text === text.trim() && !NUMBER.test(text) && !/^(?:true|false|null)$|^[[{"]/.test(text);
  return { text: plain ? text : source, identity: JSON.stringify(text) };
}

function wordValue(source: string): Value {
  if (source === "true" || source === "false" || source === "null") return { text: source, identity: source };
  if (!NUMBER.test(source)) throw new SyntaxError("no value");
  return { text: source, identity: numberIdentity(source) };
}

function numberIdentity(source: string): string {
  const value = Number(source);
  if (WHOLE.test(source) && !Number.isSafeInteger(value)) return `#${BigInt(source)}`;
  return Object.is(value, -0) ? "#-0" : `#${value}`;
}

function unquote(source: string): string {
  return String(JSON.parse(source));
}
