import type { CairnError } from "../errors.ts";
import type { Keyword } from "./keywords.ts";
import { type Segment, type Token, tokenize } from "./lexer.ts";
import { type Noun, suggestion, syntaxError, type SyntaxErrorOptions } from "./syntax-error.ts";

/** A place among the tokens of a query. The last token is the end, and the cursor stays on it. */
export class Cursor {
  readonly #noun: Noun;
  readonly #text: string;
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(text: string, noun: Noun) {
    this.#noun = noun;
    this.#text = text;
    this.#tokens = tokenize(text, noun);
  }

  peek(): Token {
    return this.#tokens[this.#next]!;
  }

  step(): void {
    if (this.#next < this.#tokens.length - 1) this.#next++;
  }

  atWord(word: Keyword): boolean {
    const token = this.peek();
    return token.kind === "word" && token.text.toLowerCase() === word;
  }

  takeWord(word: Keyword): boolean {
    const found = this.atWord(word);
    if (found) this.step();
    return found;
  }

  takeSymbol(symbol: string): boolean {
    const token = this.peek();
    const found = token.kind === "symbol" && token.text === symbol;
    if (found) this.step();
    return found;
  }

  takeString(expected: string): string {
    const token = this.peek();
    if (token.kind !== "string") throw this.unexpected(expected);
    this.step();
    return token.value;
  }

  /** `words` are those that a mistyped word here could have meant. */
  unexpected(expected: string, words: readonly string[] = [], hint?: string): CairnError {
    const token = this.peek();
    const meant = token.kind === "word" ? suggestion(token.text, words) : "";
    return this.errorAt(token, `expected ${expected}, found ${describe(token)}${meant}`, { hint });
  }

  errorAt(token: Token, problem: string, options: SyntaxErrorOptions = {}): CairnError {
    return syntaxError(this.#noun, this.#text, token.at, problem, options);
  }
}

export function joinKey(segments: readonly Segment[]): string {
  return segments.map((segment) => segment.text).join(".");
}

function describe(token: Token): string {
  switch (token.kind) {
    case "end":
      return "the end";
    case "string":
      return "a text";
    case "path":
      return shown(`${token.root}.${joinKey(token.segments)}`);
    case "word":
    case "number":
    case "span":
    case "symbol":
      return shown(token.text);
  }
}

/** A piece of the query in quotes, cut to what helps. */
export function shown(piece: string): string {
  const chars = Array.from(piece.slice(0, 82));
  return chars.length > 40 ? `${JSON.stringify(chars.slice(0, 40).join(""))}…` : JSON.stringify(piece);
}
