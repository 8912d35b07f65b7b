/**
 * Metadata as JSON text in which every number keeps its value. Text is what Python's json module writes and reads:
 * integers of any length, and NaN, Infinity and -Infinity as words.
 *
 * A number is written so that it is read as the same number again: 1 as `1`, but 1e20 as `100000000000000000000.0`,
 * since without the point it would be an integer, and come back as a bigint.
 */
import type { MetadataValue } from "./api.ts";

/** Nested deeper than anybody means it. */
const DEPTH_MAX = 512;

export interface MetadataText {
  json: string;
  /** Of what kind it was, when it is no JSON and `json` is only what it says as a text; such as "function". */
  textOf: string | undefined;
}

/** Whatever a job gives as a value. Never throws: what is no JSON becomes a text. */
export function writeMetadata(value: unknown): MetadataText {
  try {
    return { json: jsonOf(value, 0), textOf: undefined };
  } catch (thrown) {
    if (!(thrown instanceof NoJson)) throw thrown;
    return { json: JSON.stringify(textOf(value)), textOf: kindOf(value) };
  }
}

class NoJson extends Error {}

function jsonOf(value: unknown, depth: number): string {
  // Also what a cycle comes to.
  if (depth > DEPTH_MAX) throw new NoJson();
  switch (typeof value) {
    case "string":
      return JSON.stringify(value);
    case "boolean":
    case "bigint":
      return String(value);
    case "number":
      return numberText(value);
    case "object":
      return value === null ? "null" : objectText(value, depth + 1);
    default:
      throw new NoJson();
  }
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  if (Number.isInteger(value) && !Number.isSafeInteger(value) && !text.includes("e")) return `${text}.0`;
  return text;
}

function objectText(value: object, depth: number): string {
  if (Array.isArray(value) || value instanceof Set || isNumberArray(value)) {
    const items = [...(value as Iterable<unknown>)];
    return `[${items.map((item) => jsonOf(item, depth)).join(",")}]`;
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return jsonOf(
      callQuietly(() => (value.toJSON as () => unknown)()),
      depth,
    );
  }
  const entries = value instanceof Map ? [...value] : callQuietly(() => Object.entries(value));
  return `{${entries.map(([key, item]) => `${JSON.stringify(String(key))}:${jsonOf(item, depth)}`).join(",")}}`;
}

function isNumberArray(value: object): boolean {
  return ArrayBuffer.isView(value) && !(value instanceof DataView);
}

/** What a getter or a toJSON of somebody else throws is no fault of ours. */
function callQuietly<T>(call: () => T): T {
  try {
    return call();
  } catch {
    throw new NoJson();
  }
}

function textOf(value: unknown): string {
  try {
    return String(value).toWellFormed();
  } catch {
    return Object.prototype.toString.call(value);
  }
}

function kindOf(value: unknown): string {
  if (typeof value !== "object") return typeof value;
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** Throws a SyntaxError for what is no JSON text. */
export function readMetadata(json: string): MetadataValue {
  const reader = new Reader(json);
  const value = reader.value(0);
  reader.end();
  return value;
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /-?[A-Za-z]+/y;
const WORDS: ReadonlyMap<string, MetadataValue> = new Map<string, MetadataValue>([
  ["null", null],
  ["true", true],
  ["false", false],
  ["NaN", Number.NaN],
  ["Infinity", Number.POSITIVE_INFINITY],
  ["-Infinity", Number.NEGATIVE_INFINITY],
]);

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  value(depth: number): MetadataValue {
    if (depth > DEPTH_MAX) throw this.#fault(`more than ${DEPTH_MAX} levels`);
    this.#take(SPACE);
    switch (this.#text[this.#at]) {
      case "{":
        return this.#object(depth + 1);
      case "[":
        return this.#list(depth + 1);
      case '"':
        return this.#string();
      default:
        return this.#wordOrNumber();
    }
  }

  end(): void {
    this.#take(SPACE);
    if (this.#at < this.#text.length) throw this.#fault("something behind the value");
  }

  #object(depth: number): MetadataValue {
    const object: Record<string, MetadataValue> = {};
    this.#at++;
    if (this.#sees("}")) return object;
    do {
      this.#take(SPACE);
      const key = this.#string();
      if (!this.#sees(":")) throw this.#fault('no ":"');
      // A plain assignment of __proto__ would set the prototype.
      Object.defineProperty(object, key, {
        value: this.value(depth),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    } while (this.#sees(","));
    if (!this.#sees("}")) throw this.#fault('no "}"');
    return object;
  }

  #list(depth: number): MetadataValue {
    const list: MetadataValue[] = [];
    this.#at++;
    if (this.#sees("]")) return list;
    do list.push(this.value(depth));
    while (this.#sees(","));
    if (!this.#sees("]")) throw this.#fault('no "]"');
    return list;
  }

  #string(): string {
    const text = this.#take(STRING);
    if (text === undefined) throw this.#fault("no text in quotes");
    return JSON.parse(text) as string;
  }

  #wordOrNumber(): MetadataValue {
    const at = this.#at;
    const number = this.#take(NUMBER);
    if (number !== undefined) return numberOf(number);
    const word = this.#take(WORD) ?? "";
    const value = WORDS.get(word);
    if (value !== undefined) return value;
    this.#at = at;
    throw this.#fault("no value");
  }

  #sees(char: string): boolean {
    this.#take(SPACE);
    if (this.#text[this.#at] !== char) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) return undefined;
    this.#at += found.length;
    return found;
  }

  #fault(what: string): SyntaxError {
    return new SyntaxError(`cannot read JSON: ${what} at position ${this.#at}`);
  }
}

function numberOf(text: string): number | bigint {
  const number = Number(text);
  if (/[.eE]/.test(text)) return number;
  // The integer -0 is 0.
  return Number.isSafeInteger(number) ? number + 0 : BigInt(text);
}
