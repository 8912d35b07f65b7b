/**
 * Scanners for canonical JSON text that was checked when it was stored: each reads as little as possible, returns the
 * index of what follows, and throws `corrupt` for text that is not canonical.
 */
import { CairnError, quote } from "../errors.ts";

export const QUOTE = 0x22;
export const COMMA = 0x2c;
const COLON = 0x3a;
export const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
export const CLOSE_BRACKET = 0x5d;
export const OPEN_BRACE = 0x7b;
export const CLOSE_BRACE = 0x7d;

export function enterObject(text: string, at: number): number {
  if (text.charCodeAt(at) !== OPEN_BRACE) throw damaged(text);
  return at + 1;
}

export function skipColon(text: string, at: number): number {
  if (text.charCodeAt(at) !== COLON) throw damaged(text);
  return at + 1;
}

/** From the end of a value to the next key or to the closing brace. */
export function nextEntry(text: string, at: number): number {
  if (text.charCodeAt(at) !== COMMA) return at;
  if (text.charCodeAt(at + 1) !== QUOTE) throw damaged(text);
  return at + 1;
}

export function leaveObject(text: string, at: number): number {
  if (text.charCodeAt(at) !== CLOSE_BRACE) throw damaged(text);
  return at + 1;
}

/** Where the value that begins at `at` ends. */
export function skipValue(text: string, at: number): number {
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

export function skipString(text: string, at: number): number {
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

export function stringOf(text: string, at: number, end: number): string {
  const inside = text.slice(at + 1, end - 1);
  return inside.includes("\\") ? (JSON.parse(text.slice(at, end)) as string) : inside;
}

export function damaged(text: string): CairnError {
  return new CairnError(
    "corrupt",
    `cannot read the stored params ${quote(text.slice(0, 300))}: not a canonical JSON object`,
  );
}
