/**
 * JSON as it was written. `JSON.parse` would turn 9007199254740993 into another number and 1.0 into 1; here a leaf is the text of its literal, to the letter. Understands
 * NaN and the infinities as Python writes them.
 */
export type JsonNode = JsonLeaf | JsonBranch;
export interface JsonLeaf {
  text: string;
}
export interface JsonBranch {
  isArray: boolean;
  entries: readonly (readonly [name: string, node: JsonNode])[];
}

/** Beyond it a value is shown as its text. */
const DEPTH_MAX = 100;
const LITERAL = /-?(?:\d[\d.eE+-]*|Infinity)|NaN|true|false|null/y;
const STRING = /"(?:[^"\\]|\\[^])*"/y;
const SPACE = /[ \t\r\n]*/y;

export function isBranch(node: JsonNode): node is JsonBranch {
  return "entries" in node;
}

/** undefined when the text is no JSON. */
export function parseJsonNodes(text: string): JsonNode | undefined {
  const reader = new Reader(text);
  try {
    const node = reader.value(0);
    return reader.isAtEnd() ? node : undefined;
  } catch (thrown) {
    if (thrown instanceof NoJson) return undefined;
    throw thrown;
  }
}

class NoJson extends Error {}

class Reader {
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  isAtEnd(): boolean {
    this.#match(SPACE);
    return this.#at === this.#text.length;
  }

  value(depth: number): JsonNode {
    if (depth > DEPTH_MAX) throw new NoJson();
    this.#match(SPACE);
    const first = this.#text[this.#at];
    if (first === "{") return this.#branch(depth, "}", false);
    if (first === "[") return this.#branch(depth, "]", true);
    return { text: first === '"' ? this.#need(STRING) : this.#need(LITERAL) };
  }

  #branch(depth: number, end: string, isArray: boolean): JsonBranch {
    const entries: [string, JsonNode][] = [];
    this.#at++;
    if (this.#take(end)) return { isArray, entries };
    do {
      let name = String(entries.length);
      if (!isArray) {
        this.#match(SPACE);
        name = unquoted(this.#need(STRING));
        if (!this.#take(":")) throw new NoJson();
      }
      entries.push([name, this.value(depth + 1)]);
    } while (this.#take(","));
    if (!this.#take(end)) throw new NoJson();
    return { isArray, entries };
  }

  #take(one: string): boolean {
    this.#match(SPACE);
    if (this.#text[this.#at] !== one) return false;
    this.#at++;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found[0];
  }

  #need(pattern: RegExp): string {
    const found = this.#match(pattern);
    if (found === undefined || found === "") throw new NoJson();
    return found;
  }
}

/** The text of a string literal; the literal itself when it is broken. */
function unquoted(literal: string): string {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === "string" ? value : literal;
  } catch {
    return literal;
  }
}

const INLINE_MAX = 80;

/** A short list of literals is easier to read in one line. */
export function inlineText(node: JsonNode): string | undefined {
  if (!isBranch(node)) return node.text.startsWith('"') ? unquoted(node.text) : node.text;
  if (node.entries.length === 0) return node.isArray ? "[]" : "{}";
  if (!node.isArray || node.entries.some(([, entry]) => isBranch(entry))) return undefined;
  const text = `[${node.entries.map(([, entry]) => (entry as JsonLeaf).text).join(", ")}]`;
  return text.length <= INLINE_MAX ? text : undefined;
}
