/**
 * JSON as Python's json module writes it, so with NaN, Infinity and -Infinity, and with every number as it was
 * written: 1.0 is not made 1, and 9007199254740993 keeps its last digit. JSON.parse can do neither.
 */
import { columnAt, loneSurrogateAt } from "../code-points.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";

export type JsonNode = JsonLeaf | JsonList | JsonObject;

export interface JsonLeaf {
  readonly type: "number" | "text" | "bool" | "null";
  /** To the letter: numbers digit by digit, texts in their quotes and with their escapes. */
  readonly source: string;
}

export interface JsonList {
  readonly type: "list";
  readonly items: readonly JsonNode[];
}

export interface JsonObject {
  readonly type: "object";
  /** In the order of the text. */
  readonly entries: ReadonlyMap<string, JsonNode>;
}

export interface JsonOptions {
  /** Names the text in errors, such as `param "lr"`. */
  what?: string;
  /** Lists and objects in each other; as many as a param may have unless said otherwise. */
  depthMax?: number;
  /** Values of any kind, all together. */
  nodesMax?: number;
  /**
   * Another program wrote it: a key may come twice in one object, of which the last one counts, and an escape may
   * be half of a surrogate pair, as in Python. Both are refused otherwise.
   */
  isForeign?: boolean;
}

/** Not JSON, nested too deep, or too large. */
type JsonFault = "broken" | "deep" | "large";

export class JsonError extends CairnError {
  readonly fault: JsonFault;

  constructor(fault: JsonFault, { what, cause, text, index, hint }: JsonProblem) {
    const column = String(columnAt(text, index));
    super("invalid", `cannot read ${what}: ${cause} at column ${column}`, {
      reason: "JSON_SYNTAX",
      facts: { column },
      ...(hint === undefined ? {} : { hint }),
    });
    this.fault = fault;
  }
}

interface JsonProblem {
  what: string;
  cause: string;
  text: string;
  /** Where in the text it is. */
  index: number;
  hint?: string | undefined;
}

/** Throws JsonError, which is `invalid` with reason JSON_SYNTAX and the column as a fact. */
export function parseJson(text: string, options: JsonOptions = {}): JsonNode {
  return new Parser(text, options).read();
}

/** Whether a text is meant as JSON; also when it is nested deeper than it may be. */
export function isJson(text: string): boolean {
  try {
    parseJson(text, { isForeign: true });
    return true;
  } catch (thrown) {
    if (thrown instanceof JsonError) return thrown.fault !== "broken";
    throw thrown;
  }
}

/** What is in a list or an object, by position or key; nothing in a leaf. */
export function nodeEntries(node: JsonNode): (readonly [name: string, value: JsonNode])[] {
  if (node.type === "list") return node.items.map((item, index) => [String(index), item] as const);
  return node.type === "object" ? [...node.entries] : [];
}

const BLANK = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const NUMBER = /-?(?:Infinity|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;
const WORD = /[\p{L}_][\p{L}\p{N}_.-]*/uy;
const WORDS: ReadonlyMap<string, JsonLeaf> = new Map(
  (
    [
      { type: "bool", source: "true" },
      { type: "bool", source: "false" },
      { type: "null", source: "null" },
      { type: "number", source: "NaN" },
    ] as const
  ).map((leaf) => [leaf.source, leaf]),
);
const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["undefined", "null"],
  ["nan", "NaN"],
  ["inf", "Infinity"],
  ["infinity", "Infinity"],
]);

/** Recursive, at most `depthMax` deep. */
class Parser {
  readonly #text: string;
  readonly #options: JsonOptions;
  readonly #depthMax: number;
  #nodesLeft: number;
  #at = 0;

  constructor(text: string, options: JsonOptions) {
    this.#text = text;
    this.#options = options;
    this.#depthMax = options.depthMax ?? limits.paramNestingMax;
    this.#nodesLeft = options.nodesMax ?? Infinity;
  }

  read(): JsonNode {
    const lone = this.#options.isForeign === true ? -1 : loneSurrogateAt(this.#text);
    if (lone >= 0) throw this.#error("a lone surrogate is not a character", lone);
    this.#space();
    const node = this.#value(0);
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return node;
  }

  /** Reads one value and the whitespace after it. */
  #value(depth: number): JsonNode {
    if (--this.#nodesLeft < 0) {
      throw this.#error(`more than ${this.#options.nodesMax} values`, this.#at, undefined, "large");
    }
    const first = this.#text.charCodeAt(this.#at);
    let node: JsonNode;
    if (first === QUOTE) node = { type: "text", source: this.#string() };
    else if (first === OPEN_BRACE) node = { type: "object", entries: this.#entries(this.#deeper(depth)) };
    else if (first === OPEN_BRACKET) node = { type: "list", items: this.#items(this.#deeper(depth)) };
    else node = this.#number() ?? this.#word();
    this.#space();
    return node;
  }

  #deeper(depth: number): number {
    if (depth < this.#depthMax) return depth + 1;
    throw this.#error(
      `nested deeper than ${this.#depthMax}`,
      this.#at,
      "flatten it, or keep it in a file and record where that is",
      "deep",
    );
  }

  #entries(depth: number): Map<string, JsonNode> {
    const entries = new Map<string, JsonNode>();
    this.#take(OPEN_BRACE);
    if (this.#take(CLOSE_BRACE)) return entries;
    do {
      const keyAt = this.#at;
      if (this.#text.charCodeAt(keyAt) !== QUOTE) throw this.#unexpected('a key in double quotes or "}"');
      const key = unquoted(this.#string());
      if (entries.has(key) && this.#options.isForeign !== true) {
        throw this.#error(`duplicate key ${quote(key)}`, keyAt);
      }
      this.#space();
      if (!this.#take(COLON)) throw this.#unexpected('":"');
      entries.set(key, this.#value(depth));
    } while (this.#take(COMMA));
    if (!this.#take(CLOSE_BRACE)) throw this.#unexpected('"," or "}"');
    return entries;
  }

  #items(depth: number): JsonNode[] {
    const items: JsonNode[] = [];
    this.#take(OPEN_BRACKET);
    if (this.#take(CLOSE_BRACKET)) return items;
    do items.push(this.#value(depth));
    while (this.#take(COMMA));
    if (!this.#take(CLOSE_BRACKET)) throw this.#unexpected('"," or "]"');
    return items;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let at = start + 1;
    for (let unit = text.charCodeAt(at); unit !== QUOTE; unit = text.charCodeAt(at)) {
      if (at >= text.length) throw this.#error("a string has no closing quote", start);
      if (unit < BLANK) throw this.#error("a control character in a string must be escaped", at);
      at = unit === BACKSLASH ? this.#escapeEnd(at) : at + 1;
    }
    this.#at = at + 1;
    return text.slice(start, at + 1);
  }

  #escapeEnd(at: number): number {
    if (this.#text[at + 1] !== "u") {
      if ('"\\/bfnrt'.includes(this.#text.charAt(at + 1) || " ")) return at + 2;
      throw this.#error("unknown escape", at, 'write "\\\\" for a backslash');
    }
    const unit = this.#hex(at);
    if (unit === undefined) throw this.#error("an escape needs four hex digits", at);
    if (unit < 0xd800 || unit > 0xdfff || this.#options.isForeign === true) return at + 6;
    const next = this.#text.startsWith("\\u", at + 6) ? this.#hex(at + 6) : undefined;
    if (unit >= 0xdc00 || next === undefined || next < 0xdc00 || next > 0xdfff) {
      throw this.#error("a lone surrogate is not a character", at);
    }
    return at + 12;
  }

  #hex(at: number): number | undefined {
    const digits = this.#text.slice(at + 2, at + 6);
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
  }

  #number(): JsonLeaf | undefined {
    const source = this.#token(NUMBER);
    return source === undefined ? undefined : { type: "number", source };
  }

  #word(): JsonLeaf {
    const start = this.#at;
    const word = this.#token(WORD);
    const leaf = word === undefined ? undefined : WORDS.get(word);
    if (leaf !== undefined) return leaf;
    this.#at = start;
    if (word === undefined) throw this.#unexpected("a JSON value", this.#valueHint());
    const ours = FOREIGN_WORDS.get(word);
    const hint = ours === undefined ? `a string needs quotes: ${quote(quote(word))}` : `write ${ours}`;
    throw this.#error(`${quote(word)} is not a JSON value`, start, hint);
  }

  #valueHint(): string | undefined {
    const char = this.#text[this.#at];
    if (char === "'") return "strings need double quotes";
    if (char === "+" || char === ".") return "a number begins with a digit or a minus";
    return undefined;
  }

  #token(pattern: RegExp): string | undefined {
    const start = this.#at;
    pattern.lastIndex = start;
    if (!pattern.test(this.#text)) return undefined;
    this.#at = pattern.lastIndex;
    return this.#text.slice(start, this.#at);
  }

  #space(): void {
    let unit = this.#text.charCodeAt(this.#at);
    while (unit <= BLANK && (unit === BLANK || unit === 0x0a || unit === 0x0d || unit === 0x09)) {
      unit = this.#text.charCodeAt(++this.#at);
    }
  }

  /** Steps over the character, if it is the next one, and the whitespace after it. */
  #take(unit: number): boolean {
    if (this.#text.charCodeAt(this.#at) !== unit) return false;
    this.#at++;
    this.#space();
    return true;
  }

  #unexpected(expected: string, hint?: string): JsonError {
    const point = this.#text.codePointAt(this.#at);
    const found = point === undefined ? "the end" : quote(String.fromCodePoint(point));
    return this.#error(`expected ${expected}, found ${found}`, this.#at, hint);
  }

  #error(cause: string, index: number, hint?: string, fault: JsonFault = "broken"): JsonError {
    return new JsonError(fault, { what: this.#options.what ?? "JSON", cause, text: this.#text, index, hint });
  }
}

/** What a text in quotes says. */
export function unquoted(source: string): string {
  return source.includes("\\") ? (JSON.parse(source) as string) : source.slice(1, -1);
}
