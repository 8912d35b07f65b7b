/**
 * Cuts a query into tokens in one pass. Regular expressions here are sticky and have no nested
 * repetition, so that no text is read twice.
 *
 * A field with a key, such as `metrics."val acc".max`, is one token: inside it `-`, `/` and the like
 * belong to the key, and words such as `in` mean nothing.
 */
import { loneSurrogateAt } from "../code-points.ts";
import { type Noun, syntaxError } from "./syntax-error.ts";

interface Span {
  readonly at: number;
  readonly end: number;
}

type Content =
  | { readonly kind: "word"; readonly text: string }
  | { readonly kind: "path"; readonly root: string; readonly segments: readonly Segment[] }
  | { readonly kind: "number"; readonly value: number; readonly text: string }
  | { readonly kind: "span"; readonly seconds: number; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "symbol"; readonly text: string }
  | { readonly kind: "end" };

export type Token = Span & Content;

/** A piece that is invalid, up to where it would end: an unclosed string ends with the text. */
export interface InvalidToken extends Span {
  readonly kind: "invalid";
  /** What it began as. */
  readonly meant: Token["kind"];
  readonly text: string;
}

/** Of a query that is still being typed. */
export type DraftToken = Token | InvalidToken;

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

/** Throws `invalid` (QUERY_SYNTAX) at the first invalid piece. */
export function tokenize(text: string, noun: Noun): Token[] {
  const lone = loneSurrogateAt(text);
  if (lone >= 0) throw syntaxError(noun, text, lone, "a lone surrogate is not a character");
  // With a noun none of them is invalid.
  return new Lexer(text, noun).tokens() as Token[];
}

/** For editors: never throws. The tokens of a text that `tokenize` takes are the same. */
export function tokenizeDraft(text: string): DraftToken[] {
  return new Lexer(text, undefined).tokens();
}

class Lexer {
  readonly #text: string;
  /** What the text is called in errors; undefined for one in which everything is a token. */
  readonly #noun: Noun | undefined;
  readonly #isWellFormed: boolean;
  #at = 0;
  /** Whether the token being read is. */
  #isInvalid = false;

  constructor(text: string, noun: Noun | undefined) {
    this.#text = text;
    this.#noun = noun;
    this.#isWellFormed = text.isWellFormed();
  }

  tokens(): DraftToken[] {
    const tokens: DraftToken[] = [];
    for (this.#take(SPACE); this.#at < this.#text.length; this.#take(SPACE)) tokens.push(this.#next());
    tokens.push({ kind: "end", at: this.#at, end: this.#at });
    return tokens;
  }

  #next(): DraftToken {
    const at = this.#at;
    this.#isInvalid = false;
    const content = this.#content();
    const end = this.#at;
    if (!this.#isInvalid && (this.#isWellFormed || this.#text.slice(at, end).isWellFormed())) {
      return { ...content, at, end };
    }
    return { kind: "invalid", at, end, meant: content.kind, text: this.#text.slice(at, end) };
  }

  #content(): Content {
    const char = this.#text[this.#at]!;
    if (char === '"' || char === "'" || char === "`") return { kind: "string", value: this.#string() };
    const word = this.#take(WORD);
    if (word !== undefined)
      return this.#text[this.#at] === "." ? this.#path(word) : { kind: "word", text: word };
    const at = this.#at;
    const date = this.#take(DATE);
    if (date !== undefined) {
      this.#refuse(at, "a date needs quotes");
      return { kind: "number", value: Number.NaN, text: date };
    }
    const digits = this.#take(NUMBER);
    if (digits !== undefined) return this.#number(digits);
    const symbol = this.#take(SYMBOL);
    if (symbol !== undefined) return { kind: "symbol", text: symbol };
    const found = String.fromCodePoint(this.#text.codePointAt(at)!);
    this.#refuse(at, `unexpected ${JSON.stringify(found)}`, FOREIGN_SYMBOLS.get(found));
    this.#at += found.length;
    return { kind: "symbol", text: found };
  }

  #path(root: string): Content {
    const segments: Segment[] = [];
    while (this.#text[this.#at] === ".") {
      this.#at++;
      const quoted = this.#text[this.#at] === '"' || this.#text[this.#at] === "`";
      const text = quoted ? this.#string() : this.#take(BARE_SEGMENT);
      if (text === undefined) {
        this.#refuse(
          this.#at,
          `expected a key after "${root}."`,
          `a key with other characters than letters, digits and _-/@:#$%&+ needs double quotes: ${root}."learning rate"`,
        );
      } else segments.push({ text, quoted });
    }
    return { kind: "path", root, segments };
  }

  #number(digits: string): Content {
    const value = Number(digits);
    const unitAt = this.#at;
    const unit = this.#take(WORD_REST);
    if (unit === undefined) return { kind: "number", value, text: digits };
    const seconds = SPAN_UNITS.get(unit);
    if (seconds !== undefined) return { kind: "span", seconds: value * seconds, text: digits + unit };
    this.#refuse(
      unitAt,
      `unexpected ${JSON.stringify(unit.slice(0, 40))} after a number`,
      `units are ${[...SPAN_UNITS.keys()].join(", ")}; text needs quotes`,
    );
    return { kind: "number", value, text: digits };
  }

  /** Text in backticks is literal; the other quotes allow escapes. */
  #string(): string {
    const text = this.#text;
    const start = this.#at;
    const close = text[start]!;
    let value = "";
    let copied = start + 1;
    let at = start + 1;
    while (text[at] !== close) {
      if (at >= text.length) {
        this.#refuse(start, `expected a closing ${close}`);
        this.#at = text.length;
        return value;
      }
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
    if (letter === "u") return this.#unicodeEscape(at);
    const plain = ESCAPES.get(letter);
    if (plain === undefined) {
      this.#refuse(
        at,
        "unknown escape",
        "write \\\\ for a backslash, or put the text in backticks, which have no escapes",
      );
    }
    return [plain ?? "", at + 2];
  }

  #unicodeEscape(at: number): [char: string, end: number] {
    const unit = this.#hex(at);
    if (unit === undefined) return ["", at + 2];
    if (unit < 0xd800 || unit > 0xdfff) return [String.fromCharCode(unit), at + 6];
    const isFirst = unit < 0xdc00 && this.#text.startsWith("\\u", at + 6);
    const next = (isFirst ? this.#hex(at + 6) : undefined) ?? 0;
    if (next >= 0xdc00 && next <= 0xdfff) return [String.fromCharCode(unit, next), at + 12];
    this.#refuse(at, "a lone surrogate is not a character");
    return ["", at + 6];
  }

  #hex(at: number): number | undefined {
    const digits = this.#text.slice(at + 2, at + 6);
    if (/^[0-9a-fA-F]{4}$/.test(digits)) return Number.parseInt(digits, 16);
    this.#refuse(at, "an escape \\u needs four hex digits");
    return undefined;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const taken = pattern.exec(this.#text)?.[0];
    if (taken !== undefined) this.#at += taken.length;
    return taken;
  }

  #refuse(at: number, problem: string, hint?: string): void {
    if (this.#noun !== undefined) throw syntaxError(this.#noun, this.#text, at, problem, { hint });
    this.#isInvalid = true;
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
