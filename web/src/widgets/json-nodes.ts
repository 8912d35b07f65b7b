import { TooMuch, type Outcome } from "../prepare/prepared.ts";

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

/** Beyond them a value is shown as its text. */
const DEPTH_MAX = 100;
const NODES_MAX = 50_000;
const LITERAL = /-?(?:\d[\d.eE+-]*|Infinity)|NaN|true|false|null/y;
const STRING = /"(?:[^"\\]|\\[^])*"/y;
const SPACE = /[ \t\r\n]*/y;

export function isBranch(node: JsonNode): node is JsonBranch {
  return "entries" in node;
}

/** How many more values may be shown as what they are. */
export class NodeBudget {
  #left = NODES_MAX;

  take(): void {
    this.#left -= 1;
    if (this.#left < 0) throw new TooMuch("large");
  }
}

/** undefined when the text is not JSON, or more than is shown as such. */
export function parseJsonNodes(text: string, budget?: NodeBudget): JsonNode | undefined {
  const outcome = readJsonNodes(text, budget);
  return "value" in outcome ? outcome.value : undefined;
}

/** Refused as broken when the text is not JSON. */
export function readJsonNodes(text: string, budget = new NodeBudget()): Outcome<JsonNode> {
  const reader = new Reader(text, budget);
  try {
    const value = reader.value(0);
    return reader.isAtEnd() ? { value } : { refused: "broken" };
  } catch (thrown) {
    if (thrown instanceof TooMuch) return { refused: thrown.refusal };
    throw thrown;
  }
}

class Reader {
  #at = 0;
  readonly #text: string;
  readonly #budget: NodeBudget;

  constructor(text: string, budget: NodeBudget) {
    this.#text = text;
    this.#budget = budget;
  }

  isAtEnd(): boolean {
    this.#match(SPACE);
    return this.#at === this.#text.length;
  }

  value(depth: number): JsonNode {
    if (depth > DEPTH_MAX) throw new TooMuch("deep");
    this.#budget.take();
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
        if (!this.#take(":")) throw new TooMuch("broken");
      }
      entries.push([name, this.value(depth + 1)]);
    } while (this.#take(","));
    if (!this.#take(end)) throw new TooMuch("broken");
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
    if (found === undefined || found === "") throw new TooMuch("broken");
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
