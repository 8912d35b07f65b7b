import { byteLength } from "#base/byte-length.ts";
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { columnAt, compareCodePoints, loneSurrogateAt } from "../code-points.ts";

/**
 * The canonical form (see json.ts) of one JSON text. `what` names it in errors, such as `param "lr"`.
 * Throws `invalid` (JSON_SYNTAX, fact column) for what is no JSON, for a key twice in one object, a
 * lone surrogate, nesting over paramNestingMax and more than paramValueBytesMax bytes of `text`.
 */
export function canonicalJson(text: string, what: string): string {
  return new Canonical(text, what).read();
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);
const NUMBER = /-?(?:Infinity|(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)/y;
const WORD = /[\p{L}_][\p{L}\p{N}_.-]*/uy;
const WORDS: ReadonlySet<string> = new Set(["true", "false", "null", "NaN"]);
const FOREIGN_WORDS: ReadonlyMap<string, string> = new Map([
  ["True", "true"],
  ["False", "false"],
  ["None", "null"],
  ["undefined", "null"],
  ["nan", "NaN"],
  ["inf", "Infinity"],
  ["infinity", "Infinity"],
]);

/** Recursive, but no deeper than paramNestingMax. */
class Canonical {
  readonly #text: string;
  readonly #what: string;
  #at = 0;

  constructor(text: string, what: string) {
    this.#text = text;
    this.#what = what;
  }

  read(): string {
    const sizeBytes = byteLength(this.#text);
    if (sizeBytes > limits.paramValueBytesMax) {
      throw this.#error(
        `${sizeBytes} bytes are more than ${limits.paramValueBytesMax}`,
        0,
        "keep it in a file and record where that is",
      );
    }
    const lone = loneSurrogateAt(this.#text);
    if (lone >= 0) throw this.#error("a lone surrogate is no character", lone);
    this.#space();
    const value = this.#value(0);
    if (this.#at < this.#text.length) throw this.#unexpected("the end");
    return value;
  }

  /** Reads one value and the whitespace after it. */
  #value(depth: number): string {
    const first = this.#text[this.#at];
    let value: string;
    if (first === '"') value = this.#string();
    else if (first === "{") value = this.#object(this.#deeper(depth));
    else if (first === "[") value = this.#list(this.#deeper(depth));
    else value = this.#token(NUMBER) ?? this.#word();
    this.#space();
    return value;
  }

  #deeper(depth: number): number {
    if (depth >= limits.paramNestingMax) {
      throw this.#error(
        `nested deeper than ${limits.paramNestingMax}`,
        this.#at,
        "flatten it, or keep it in a file and record where that is",
      );
    }
    return depth + 1;
  }

  #object(depth: number): string {
    const entries: { key: string; text: string }[] = [];
    const keys = new Set<string>();
    this.#take("{");
    if (this.#take("}")) return "{}";
    do {
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') throw this.#unexpected('a key in double quotes or "}"');
      const keyText = this.#string();
      const key = keyText.includes("\\") ? (JSON.parse(keyText) as string) : keyText.slice(1, -1);
      if (keys.has(key)) throw this.#error(`the key ${quote(key)} is there twice`, keyAt);
      keys.add(key);
      this.#space();
      if (!this.#take(":")) throw this.#unexpected('":"');
      entries.push({ key, text: `${keyText}:${this.#value(depth)}` });
    } while (this.#take(","));
    if (!this.#take("}")) throw this.#unexpected('"," or "}"');
    entries.sort((a, b) => compareCodePoints(a.key, b.key));
    return `{${entries.map((entry) => entry.text).join(",")}}`;
  }

  #list(depth: number): string {
    const items: string[] = [];
    this.#take("[");
    if (this.#take("]")) return "[]";
    do items.push(this.#value(depth));
    while (this.#take(","));
    if (!this.#take("]")) throw this.#unexpected('"," or "]"');
    return `[${items.join(",")}]`;
  }

  #string(): string {
    const text = this.#text;
    const start = this.#at;
    let escaped = false;
    let at = start + 1;
    for (let unit = text.charCodeAt(at); unit !== QUOTE; unit = text.charCodeAt(at)) {
      if (at >= text.length) throw this.#error("a string has no closing quote", start);
      if (unit < 0x20) throw this.#error("a control character in a string must be escaped", at);
      escaped ||= unit === BACKSLASH;
      at = unit === BACKSLASH ? this.#escapeEnd(at) : at + 1;
    }
    this.#at = at + 1;
    const raw = text.slice(start, at + 1);
    return escaped ? JSON.stringify(JSON.parse(raw)) : raw;
  }

  #escapeEnd(at: number): number {
    if (this.#text[at + 1] !== "u") {
      if ('"\\/bfnrt'.includes(this.#text.charAt(at + 1) || " ")) return at + 2;
      throw this.#error("unknown escape", at, 'write "\\\\" for a backslash');
    }
    const unit = this.#hex(at);
    if (unit === undefined) throw this.#error("an escape needs four hex digits", at);
    if (unit < 0xd800 || unit > 0xdfff) return at + 6;
    const next = this.#text.startsWith("\\u", at + 6) ? this.#hex(at + 6) : undefined;
    if (unit >= 0xdc00 || next === undefined || next < 0xdc00 || next > 0xdfff) {
      throw this.#error("a lone surrogate is no character", at);
    }
    return at + 12;
  }

  #hex(at: number): number | undefined {
    const digits = this.#text.slice(at + 2, at + 6);
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : undefined;
  }

  #word(): string {
    const start = this.#at;
    const word = this.#token(WORD);
    if (word !== undefined && WORDS.has(word)) return word;
    this.#at = start;
    if (word === undefined) throw this.#unexpected("a JSON value", this.#valueHint());
    const ours = FOREIGN_WORDS.get(word);
    const hint = ours === undefined ? `a string needs quotes: ${quote(quote(word))}` : `write ${ours}`;
    throw this.#error(`${quote(word)} is no JSON value`, start, hint);
  }

  #valueHint(): string | undefined {
    const char = this.#text[this.#at];
    if (char === "'") return "strings stand in double quotes";
    if (char === "+" || char === ".") return "a number begins with a digit or a minus";
    return undefined;
  }

  #token(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const token = pattern.exec(this.#text)?.[0];
    if (token !== undefined) this.#at += token.length;
    return token;
  }

  #space(): void {
    while (SPACE.has(this.#text.charCodeAt(this.#at))) this.#at++;
  }

  /** Steps over the character, if it is the next one, and the whitespace after it. */
  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    this.#space();
    return true;
  }

  #unexpected(expected: string, hint?: string): CairnError {
    const point = this.#text.codePointAt(this.#at);
    const found = point === undefined ? "the end" : quote(String.fromCodePoint(point));
    return this.#error(`expected ${expected}, found ${found}`, this.#at, hint);
  }

  #error(cause: string, index: number, hint?: string): CairnError {
    const column = String(columnAt(this.#text, index));
    return new CairnError("invalid", `cannot read ${this.#what}: ${cause} at column ${column}`, {
      reason: "JSON_SYNTAX",
      facts: { column },
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
