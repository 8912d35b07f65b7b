import { unquoted, type JsonNode } from "./parse.ts";

/** Values with a JSON form. Integers above 2^53 are bigint. */
export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

/** The value has no JSON form. */
export class NotJson extends Error {}

export interface WriteOptions {
  /** Lists and objects in each other. */
  depthMax: number;
  /**
   * Values without JSON form (undefined, functions, symbols) are left out of objects and are null in lists, as
   * in JSON.stringify, and not refused.
   */
  omits?: boolean;
}

/**
 * JSON text of a value as Python's json would write it, from which `jsonValue` makes the same value again: NaN and
 * the infinities by name, a bigint as an integer, a large number with a point (1e20 is `100000000000000000000.0`,
 * since without it would be an integer). Typed arrays and sets are lists, maps are objects, and toJSON is called first.
 * Half a surrogate pair becomes U+FFFD. Throws NotJson, and what a getter or a toJSON throws.
 */
export function writeJson(value: unknown, options: WriteOptions): string {
  const text = new Writer(options).write(value);
  if (text === undefined) throw new NotJson(`a ${typeof value} has no JSON form`);
  return text;
}

class Writer {
  readonly #options: WriteOptions;
  /** What is being written, from the outside in. */
  readonly #around = new Set<object>();

  constructor(options: WriteOptions) {
    this.#options = options;
  }

  /** undefined for a value without JSON form. */
  write(value: unknown): string | undefined {
    switch (typeof value) {
      case "number":
        return numberText(value);
      case "bigint":
      case "boolean":
        return String(value);
      case "string":
        return JSON.stringify(value.toWellFormed());
      case "object":
        return value === null ? "null" : this.#nested(value);
      default:
        return undefined;
    }
  }

  #nested(value: object): string | undefined {
    if (this.#around.has(value)) throw new NotJson("it contains itself");
    if (this.#around.size >= this.#options.depthMax) {
      throw new NotJson(`it is nested deeper than ${this.#options.depthMax}`);
    }
    this.#around.add(value);
    const text = this.#object(value);
    this.#around.delete(value);
    return text;
  }

  #object(value: object): string | undefined {
    if ("toJSON" in value && typeof value.toJSON === "function") {
      return this.write((value.toJSON as (key: string) => unknown)(""));
    }
    if (value instanceof DataView) throw new NotJson("a DataView is not a list of values");
    if (Array.isArray(value) || ArrayBuffer.isView(value) || value instanceof Set) {
      const items = Array.from(value as Iterable<unknown>, (item) => this.#member(item) ?? "null");
      return `[${items.join(",")}]`;
    }
    const entries = value instanceof Map ? [...(value as Map<unknown, unknown>)] : Object.entries(value);
    const texts = new Map<string, string>();
    for (const [key, item] of entries) {
      const name = JSON.stringify(String(key).toWellFormed());
      const text = texts.has(name) ? undefined : this.#member(item);
      if (text !== undefined) texts.set(name, text);
    }
    return `{${Array.from(texts, ([name, text]) => `${name}:${text}`).join(",")}}`;
  }

  #member(value: unknown): string | undefined {
    const text = this.write(value);
    if (text === undefined && this.#options.omits !== true) throw new NotJson(`it holds a ${typeof value}`);
    return text;
  }
}

function numberText(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const text = String(value);
  const isLong = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLong && !text.includes("e") ? `${text}.0` : text;
}

/** The value of JSON text. `valueOf` says what becomes of a number literal. */
export function jsonValue(
  node: JsonNode,
  valueOf: (source: string) => number | bigint | string = numberOf,
): JsonValue {
  switch (node.type) {
    case "list":
      return node.items.map((item) => jsonValue(item, valueOf));
    case "object":
      // As own properties: a plain assignment of __proto__ would set the prototype.
      return Object.fromEntries(Array.from(node.entries, ([key, item]) => [key, jsonValue(item, valueOf)]));
    case "text":
      return unquoted(node.source);
    case "number":
      return valueOf(node.source);
    case "bool":
      return node.source === "true";
    case "null":
      return null;
  }
}

/** The number of a literal, as Python reads it: integers are exact, and the integer -0 is 0. */
export function numberOf(source: string): number | bigint {
  const number = Number(source);
  if (Number.isSafeInteger(number) && !/[.eE]/.test(source)) return number + 0;
  return /^-?\d+$/.test(source) ? BigInt(source) : number;
}
