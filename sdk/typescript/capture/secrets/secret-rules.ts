/** The rules that both clients share, ready to use. The file explains each of them. */
import rules from "../../../python/cairn/capture/secret-rules.json" with { type: "json" };

export const RULES = rules;
export const REDACTED: string = rules.mark;

/** Lists are written as lines of several words. */
export function wordsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => line.split(" "));
}

export function setOf(lines: readonly string[]): ReadonlySet<string> {
  return new Set(wordsIn(lines));
}

/** For a text that fits from its beginning to its end. */
export function whole(...patterns: readonly string[]): RegExp {
  return new RegExp(`^(?:${patterns.join("|")})$`);
}

export interface Look {
  /** Texts of which one must be there; otherwise the pattern is not tried. */
  has: readonly string[];
  find: RegExp;
  /** What must be in it, unless it is as long as `otherwiseLength`. */
  needs: RegExp;
  otherwiseLength: number;
}

interface LookRule {
  has: string[];
  find: string;
  anyCase?: boolean;
  needs?: string;
  orLength?: number;
}

function looksOf(given: readonly LookRule[]): readonly Look[] {
  return given.map(({ has, find, anyCase, needs = "", orLength }) => ({
    has,
    find: new RegExp(find, anyCase === true ? "gi" : "g"),
    needs: new RegExp(needs),
    otherwiseLength: orLength ?? Number.POSITIVE_INFINITY,
  }));
}

/** Tokens of well-known services. Each has a run of characters, which `hasTokenRun` finds quickly. */
export const LOOKS: readonly Look[] = looksOf(rules.values.looks);
/** Words before a secret, such as `Bearer`; `has` is in lower case. */
export const PHRASES: readonly Look[] = looksOf(rules.values.phrases);

const RUN_CHARACTERS = 16;
const IN_RUN = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? 1 : 0,
);

/** Whether there are 16 letters, digits, `_` and `-` in a row: such a row covers a place whose number 16 divides. */
export function hasTokenRun(text: string): boolean {
  for (let at = RUN_CHARACTERS - 1; at < text.length; at += RUN_CHARACTERS) {
    let from = at;
    while (from > at - RUN_CHARACTERS && IN_RUN[text.charCodeAt(from)] === 1) from--;
    if (from === at) continue;
    let to = at + 1;
    while (to - from <= RUN_CHARACTERS && IN_RUN[text.charCodeAt(to)] === 1) to++;
    if (to - from > RUN_CHARACTERS) return true;
  }
  return false;
}
