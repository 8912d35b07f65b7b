/**
 * Params travel and rest as canonical JSON text: JSON as Python's json module writes it (so with NaN,
 * Infinity and -Infinity), without whitespace, object keys rising by code point, strings escaped as
 * little as possible, and number literals exactly as they were written. Two texts are equal exactly
 * when the values are the same to the letter: 1 and 1.0 differ, and 9007199254740993 survives.
 *
 * `canonicalJson` takes text from outside. The other functions take what it made and look at no more
 * of it than they must.
 */
import { CairnError, quote } from "../errors.ts";
import { limits } from "../limits.ts";
import { compareCodePoints } from "../code-points.ts";

export { canonicalJson } from "./canonical.ts";

export type Scalar = number | string | boolean | null;

/** One object text of many canonical values. Keys must be unique. */
export function joinObject(entries: Iterable<readonly [key: string, jsonText: string]>): string {
  const sorted = [...entries].sort((a, b) => compareCodePoints(a[0], b[0]));
  return `{${sorted.map(([key, jsonText]) => `${JSON.stringify(key)}:${jsonText}`).join(",")}}`;
}

/** The reverse of `joinObject`: key → value text. Throws `corrupt` when the text is no object. */
export function splitObject(objectText: string): Map<string, string> {
  const entries = new Map<string, string>();
  let at = enterObject(objectText, 0);
  while (objectText.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(objectText, at);
    const valueAt = skipColon(objectText, keyEnd);
    const valueEnd = skipValue(objectText, valueAt);
    entries.set(stringOf(objectText, at, keyEnd), objectText.slice(valueAt, valueEnd));
    at = nextEntry(objectText, valueEnd);
  }
  if (leaveObject(objectText, at) !== objectText.length) throw damaged(objectText);
  return entries;
}

/**
 * Every number, string, bool and null in an object text under its path: keys and list positions
 * joined with dots ("optim.lr", "layers.0"). An empty list or object yields nothing. A key with dots
 * in it has the path of nested keys; where several values share a path, the one with the fewest
 * levels is taken (a flat top-level key before all others), then the first. Numbers become the
 * nearest double. A path of more than keyBytesMax characters yields nothing. Throws `corrupt`.
 */
export function leaves(objectText: string): Iterable<[path: string, scalar: Scalar]> {
  const walk = new LeafWalk(objectText);
  if (walk.object(0, "", 0) !== objectText.length) throw damaged(objectText);
  return walk.unique();
}

/** Recursive, but no deeper than params may be nested. */
class LeafWalk {
  readonly #text: string;
  readonly #found: [path: string, scalar: Scalar][] = [];
  readonly #levels: number[] = [];
  /** Without a dot in a key no two values share a path. */
  #dotted = false;

  constructor(text: string) {
    this.#text = text;
  }

  unique(): Iterable<[path: string, scalar: Scalar]> {
    if (!this.#dotted) return this.#found;
    const best = new Map<string, number>();
    for (const [index, [path]] of this.#found.entries()) {
      const rival = best.get(path);
      if (rival === undefined || this.#levels[index]! < this.#levels[rival]!) best.set(path, index);
    }
    return Array.from(best.values(), (index) => this.#found[index]!);
  }

  /** Answers where the object ends, like the others below. */
  object(at: number, prefix: string, level: number): number {
    const text = this.#text;
    for (at = enterObject(text, at); text.charCodeAt(at) === QUOTE;) {
      const keyEnd = skipString(text, at);
      const key = stringOf(text, at, keyEnd);
      this.#dotted ||= key.includes(".");
      at = nextEntry(text, this.#value(skipColon(text, keyEnd), prefix === "" ? key : prefix + key, level));
    }
    return leaveObject(text, at);
  }

  #list(at: number, prefix: string, level: number): number {
    const text = this.#text;
    if (text.charCodeAt(at + 1) === CLOSE_BRACKET) return at + 2;
    for (let index = 0; ; index++) {
      at = this.#value(at + 1, prefix + index, level);
      const unit = text.charCodeAt(at);
      if (unit === CLOSE_BRACKET) return at + 1;
      if (unit !== COMMA) throw damaged(text);
    }
  }

  #value(at: number, path: string, level: number): number {
    const text = this.#text;
    const unit = text.charCodeAt(at);
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      if (level === limits.paramNestingMax) throw damaged(text);
      const prefix = `${path}.`;
      return unit === OPEN_BRACE ? this.object(at, prefix, level + 1) : this.#list(at, prefix, level + 1);
    }
    const end = skipValue(text, at);
    if (path.length <= limits.keyBytesMax) {
      this.#found.push([path, scalarOf(text, at, end)]);
      this.#levels.push(level);
    }
    return end;
  }
}

function scalarOf(text: string, at: number, end: number): Scalar {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return stringOf(text, at, end);
    case LETTER_T:
      return true;
    case LETTER_F:
      return false;
    case LETTER_N:
      return null;
    default:
      return Number(text.slice(at, end));
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const LETTER_F = 0x66;
const LETTER_N = 0x6e;
const LETTER_T = 0x74;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

function enterObject(text: string, at: number): number {
  if (text.charCodeAt(at) !== OPEN_BRACE) throw damaged(text);
  return at + 1;
}

function skipColon(text: string, at: number): number {
  if (text.charCodeAt(at) !== COLON) throw damaged(text);
  return at + 1;
}

/** From the end of a value to the next key or to the closing brace. */
function nextEntry(text: string, at: number): number {
  if (text.charCodeAt(at) !== COMMA) return at;
  if (text.charCodeAt(at + 1) !== QUOTE) throw damaged(text);
  return at + 1;
}

function leaveObject(text: string, at: number): number {
  if (text.charCodeAt(at) !== CLOSE_BRACE) throw damaged(text);
  return at + 1;
}

/** Where the value that begins at `at` ends. */
function skipValue(text: string, at: number): number {
  let depth = 0;
  for (let end = at; end < text.length;) {
    const unit = text.charCodeAt(end);
    if (unit === QUOTE) {
      end = skipString(text, end);
      if (depth === 0) return end;
      continue;
    }
    if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      // The bracket that closes what is around a bare number or word is not part of it.
      if (depth === 0) return end;
      if (--depth === 0) return end + 1;
    } else if (unit === COMMA && depth === 0) return end;
    end++;
  }
  throw damaged(text);
}

function skipString(text: string, at: number): number {
  if (text.charCodeAt(at) !== QUOTE) throw damaged(text);
  const end = text.indexOf('"', at + 1);
  if (end < 0) throw damaged(text);
  if (text.charCodeAt(end - 1) !== BACKSLASH) return end + 1;
  let next = at + 1;
  for (let unit = text.charCodeAt(next); unit !== QUOTE; unit = text.charCodeAt(next)) {
    if (next >= text.length) throw damaged(text);
    next += unit === BACKSLASH ? 2 : 1;
  }
  return next + 1;
}

function stringOf(text: string, at: number, end: number): string {
  const inside = text.slice(at + 1, end - 1);
  return inside.includes("\\") ? (JSON.parse(text.slice(at, end)) as string) : inside;
}

function damaged(text: string): CairnError {
  return new CairnError(
    "corrupt",
    `cannot read the stored params ${quote(text.slice(0, 300))}: not a canonical JSON object`,
  );
}
