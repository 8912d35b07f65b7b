import { RE2JS } from "re2js";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import type { LinePattern } from "../ports/log-store.ts";
import { compilePattern } from "#lang/query/pattern.ts";

/** What a search looks for: exactly one of `text` and `regex`. */
export interface AskedPattern {
  text: string;
  regex: string;
  ignoreCase: boolean;
}

/**
 * The pattern to search lines for. Throws `invalid` for a bad one, and for one that would take too long on
 * a long line: matching takes time in proportion to the size of the compiled pattern.
 */
export function linePattern({ text, regex, ignoreCase }: AskedPattern): LinePattern {
  if ((text === "") === (regex === "")) {
    const given = text === "" ? "without a text or regex" : "for a text and a regex at once";
    throw new CairnError("invalid", `cannot search a log ${given}`, { hint: "give exactly one of them" });
  }
  if (regex !== "") {
    const whole = ignoreCase ? `(?i:${regex})` : regex;
    requireSmall(whole, regex);
    return { kind: "regex", regex: whole };
  }
  if (!text.isWellFormed()) {
    throw new CairnError("invalid", `cannot search a log for ${quote(text)}: it is not valid Unicode`);
  }
  if (ignoreCase) {
    requireSmall(caselessRegex(text), text);
    return { kind: "caseless", text };
  }
  const sizeBytes = Buffer.byteLength(text);
  if (sizeBytes > limits.patternBytesMax) {
    throw new CairnError(
      "invalid",
      `cannot search a log for ${quote(text)}: ${sizeBytes} bytes are more than ${limits.patternBytesMax}`,
    );
  }
  return { kind: "text", text };
}

/** Matches the text, ignoring case. */
export function caselessRegex(text: string): string {
  return `(?i)${RE2JS.quote(text)}`;
}

function requireSmall(regex: string, asked: string): void {
  const size = compilePattern(regex, "regex").programSize();
  if (size <= limits.logPatternSizeMax) return;
  throw new CairnError(
    "invalid",
    `cannot search a log for ${quote(asked)}: its compiled size ${size} is more than ${limits.logPatternSizeMax}`,
    { hint: "use a shorter pattern, with smaller counts in {n,m}" },
  );
}
