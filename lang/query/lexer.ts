/**
 * Cuts a query into tokens in one pass. Regular expressions here are sticky and have no nested
 * repetition, so that no text is read twice.
 *
 * A field with a key, such as `metrics."val acc".max`, is one token: inside it `-`, `/` and the like
 * belong to the key, and words such as `in` mean nothing.
 */
import { loneSurrogateAt } from "../code-points.ts";
import { syntaxError } from "./syntax-error.ts";

export type Token = { readonly at: number } & (
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "path"; readonly root: string; readonly segments: readonly Segment[] }
  | { readonly kind: "number"; readonly value: number; readonly text: string }
  | { readonly kind: "span"; readonly seconds: number; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "symbol"; readonly text: string }
  | { readonly kind: "end" }
);

export interface Segment {
  readonly text: string;
  /** A quoted segment is never read as a statistic. */
  readonly quoted: boolean;
}

/** Seconds per unit of a span such as 7d. */
const SPAN_UNITS: ReadonlyMap<string, number> = new Map([
  ["s", 1],
  ["m", 60],
  ["h", 3_600],
  ["d", 86_400],
  ["w", 604_800],
]);

/** What a key segment may hold without quotes. */
export const BARE_SEGMENT = /[\p{L}\p{M}\p{N}_\-/@:#$%&+]+/uy;

const SPACE = /\s+/uy;
const WORD = /[\p{L}_][\p{L}\p{M}\p{N}_]*/uy;
const WORD_REST = /[\p{L}\p{M}\p{N}_]+/uy;
const DATE = /[0-9]{4}-[0-9]{2}-[0-9]{2}/y;
const NUMBER = /(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?/y;
const SYMBOL = /==|!=|<=|>=|!~|[=<>~(),+-]/y;
const FOREIGN_SYMBOLS: ReadonlyMap<string, string> = new Map([
  ["&", "write and"],
  ["|", "write or"],
  ["!", "write not, != or !~"],
  ["“", "use straight quotes"],
  ["”", "use straight quotes"],
  [".", "a key follows its kind at once: params.lr"],
]);

export function tokenize(text: string): Token[] {
  const lone = loneSurrogateAt(text);
  if (lone >= 0) throw syntaxError(text, lone, "a lone surrogate is no character");
  return new Lexer(text).tokens();
}

class Lexer {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  tokens(): Token[] {
    const tokens: Token[] = [];
    for (this.#take(SPACE); this.#at < this.#text.length; this.#take(SPACE)) tokens.push(this.#next());
    tokens.push({ kind: "end", at: this.#at });
    return tokens;
  }

  #next(): Token {
    const at = this.#at;
    const char = this.#text[at]!;
    if (char === '"' || char === "'" || char === "`") return { kind: "string", at, value: this.#string() };
    const word = this.#take(WORD);
    if (word !== undefined)
      return this.#text[this.#at] === "." ? this.#path(at, word) : { kind: "word", at, text: word };
    DATE.lastIndex = at;
    if (DATE.test(this.#text)) throw syntaxError(this.#text, at, "a date needs quotes");
    const digits = this.#take(NUMBER);
    if (digits !== undefined) return this.#number(at, digits);
    const symbol = this.#take(SYMBOL);
    if (symbol !== undefined) return { kind: "symbol", at, text: symbol };
    const found = String.fromCodePoint(this.#text.codePointAt(at)!);
    throw syntaxError(this.#text, at, `unexpected ${JSON.stringify(found)}`, {
      hint: FOREIGN_SYMBOLS.get(found),
    });
  }

  #path(at: number, root: string): Token {
    const segments: Segment[] = [];
    while (this.#text[this.#at] === ".") {
      this.#at++;
      const quoted = this.#text[this.#at] === '"' || this.#text[this.#at] === "`";
      const text = quoted ? this.#string() : this.#take(BARE_SEGMENT);
      if (text === undefined) {
        throw syntaxError(this.#text, this.#at, `expected a key after "${root}."`, {
          hint: `a key with other characters than letters, digits and _-/@:#$%&+ needs double quotes: ${root}."learning rate"`,
        });
      }
      segments.push({ text, quoted });
    }
    return { kind: "path", at, root, segments };
  }

  #number(at: number, digits: string): Token {
    const value = Number(digits);
    const unitAt = this.#at;
    const unit = this.#take(WORD_REST);
    if (unit === undefined) return { kind: "number", at, value, text: digits };
    const seconds = SPAN_UNITS.get(unit);
    if (seconds === undefined) {
      throw syntaxError(
        this.#text,
        unitAt,
        `unexpected ${JSON.stringify(unit.slice(0, 40))} after a number`,
        {
          hint: `units are ${[...SPAN_UNITS.keys()].join(", ")}; text needs quotes`,
        },
      );
    }
    return { kind: "span", at, seconds: value * seconds, text: digits + unit };
  }

  /** Backticks hold their text as it stands; the other quotes know escapes. */
  #string(): string {
    const text = this.#text;
    const start = this.#at;
    const close = text[start]!;
    let value = "";
    let copied = start + 1;
    let at = start + 1;
    while (text[at] !== close) {
      if (at >= text.length) throw syntaxError(text, start, `expected a closing ${close}`);
      if (text[at] !== "\\" || close === "`") {
        at++;
        continue;
      }
      value += text.slice(copied, at);
      const [char, end] = this.#escape(at);
      value += char;
      copied = at = end;
    }
    this.#at = at + 1;
    return value + text.slice(copied, at);
  }

  #escape(at: number): [char: string, end: number] {
    const letter = this.#text[at + 1] ?? "";
    const plain = ESCAPES.get(letter);
    if (plain !== undefined) return [plain, at + 2];
    if (letter !== "u") {
      throw syntaxError(this.#text, at, "unknown escape", {
        hint: "write \\\\ for a backslash, or put the text in backticks, which know no escapes",
      });
    }
    const unit = this.#hex(at);
    if (unit < 0xd800 || unit > 0xdfff) return [String.fromCharCode(unit), at + 6];
    const next = unit < 0xdc00 && this.#text.startsWith("\\u", at + 6) ? this.#hex(at + 6) : 0;
    if (next < 0xdc00 || next > 0xdfff) throw syntaxError(this.#text, at, "a lone surrogate is no character");
    return [String.fromCharCode(unit, next), at + 12];
  }

  #hex(at: number): number {
    const digits = this.#text.slice(at + 2, at + 6);
    if (/^[0-9a-fA-F]{4}$/.test(digits)) return Number.parseInt(digits, 16);
    throw syntaxError(this.#text, at, "an escape \\u needs four hex digits");
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0];
    if (taken !== undefined) this.#at += taken.length;
    return taken;
  }
}

const ESCAPES: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["`", "`"],
  ["\\", "\\"],
  ["/", "/"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
]);
