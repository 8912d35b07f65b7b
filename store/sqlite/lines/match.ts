import { isAscii } from "node:buffer";
import type { RE2JS } from "re2js";
import { caselessRegex } from "#core/logs/line-pattern.ts";
import type { LinePattern } from "#core/ports/log-store.ts";
import { compilePattern } from "#lang/query/pattern.ts";
import type { LineBlock } from "./block.ts";

/** Decides when a call has worked long enough. */
export interface Budget {
  /** Whether it is time to answer; looks at the clock after so many bytes of work. */
  spend(bytes: number): boolean;
}

/** Finds lines in a block. */
export interface LineMatcher {
  /**
   * The first line from `from` on that matches and that `selects` selects; Infinity when there is none. Once
   * the budget is spent it is the first line that has not been looked at.
   */
  find(block: LineBlock, from: number, selects: (i: number) => boolean, budget: Budget): number;
}

export const EVERY_LINE_MATCHES: LineMatcher = {
  find: ({ columns: { count } }, from, selects) => {
    let i = from;
    while (i < count && !selects(i)) i++;
    return i < count ? i : Infinity;
  },
};

export function matcherOf(pattern: LinePattern): LineMatcher {
  switch (pattern.kind) {
    case "text":
      return bytesMatcher(Buffer.from(pattern.text), (block) => block.text);
    case "caseless":
      return caselessMatcher(pattern.text);
    case "regex":
      return regexMatcher(compilePattern(pattern.regex, "regex"));
  }
}

/**
 * Looks at the bytes of the whole block. UTF-8 of one text is found in that of another exactly where the
 * text is; only what begins in one line and ends in the next is not a match.
 */
function bytesMatcher(needle: Buffer, bytesOf: (block: LineBlock) => Buffer): LineMatcher {
  return {
    find: (block, from, selects) => {
      const bytes = bytesOf(block);
      let at = from === 0 ? 0 : block.columns.ends[from - 1]!;
      let i = from;
      for (;;) {
        at = bytes.indexOf(needle, at);
        if (at < 0) return Infinity;
        const { ends } = block.columns;
        i = lineAt(ends, at, i);
        if (at + needle.length <= ends[i]!) {
          if (selects(i)) return i;
          // Nothing else in this line can help.
          at = ends[i++]!;
        } else at++;
      }
    },
  };
}

/** Letters beyond ASCII that are the same as one of these: the Kelvin sign and the long s. */
const OTHER_CASES = /[ks]/i;

/** Of a text in ASCII, bytes do here too, once all are in lower case: several times as fast as a pattern. */
function caselessMatcher(text: string): LineMatcher {
  const pattern = regexMatcher(compilePattern(caselessRegex(text), "regex"));
  const needle = Buffer.from(text.toLowerCase());
  if (!isAscii(Buffer.from(text))) return pattern;
  let last: { block: LineBlock; lowered: Buffer } | undefined;
  const plain = bytesMatcher(needle, (block) => {
    if (last?.block !== block) last = { block, lowered: lowered(block.text) };
    return last.lowered;
  });
  if (!OTHER_CASES.test(text)) return plain;
  return {
    find: (block, ...rest) => (isAscii(block.text) ? plain : pattern).find(block, ...rest),
  };
}

const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

function lowered(text: Buffer): Buffer {
  const bytes = new Uint8Array(text.buffer, text.byteOffset, text.length);
  const out = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) out[i] = LOWER[bytes[i]!]!;
  return Buffer.from(out.buffer);
}

/** The line that holds the byte, not before line `from`: the first that ends behind it. */
function lineAt(ends: Uint32Array, byte: number, from: number): number {
  let low = from;
  let high = ends.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (ends[middle]! > byte) high = middle;
    else low = middle + 1;
  }
  return low;
}

function regexMatcher(pattern: RE2JS): LineMatcher {
  /** The text of the last block as characters, where a byte is one: cutting lines from it is cheap. */
  let ascii: { block: LineBlock; text: string | undefined } | undefined;
  return {
    find: (block, from, selects, budget) => {
      if (ascii?.block !== block) {
        ascii = { block, text: isAscii(block.text) ? block.text.toString("latin1") : undefined };
      }
      const { count, ends } = block.columns;
      for (let i = from; i < count; i++) {
        if (!selects(i)) continue;
        const start = i === 0 ? 0 : ends[i - 1]!;
        const line = ascii.text === undefined ? block.lineText(i) : ascii.text.slice(start, ends[i]);
        if (pattern.test(line)) return i;
        if (budget.spend(ends[i]! - start)) return i + 1;
      }
      return Infinity;
    },
  };
}
