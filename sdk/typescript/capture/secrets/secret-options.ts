/** Options with a password behind them, in a text that has a command in it. */
import { nameStrength } from "./secret-names.ts";
import { REDACTED, RULES, wordsIn } from "./secret-rules.ts";
import {
  isPlaceholder,
  isSecretInCode,
  isSecretInLine,
  marked,
  matchAt,
  valueAt,
  type Mode,
  type Value,
} from "./secret-values.ts";

export interface Program {
  letters: string;
  words: readonly string[];
  /** The word that must precede; undefined when none is required. */
  after: string | undefined;
}

/** By their names. */
export const PROGRAMS: ReadonlyMap<string, Program> = new Map(
  RULES.programs.of.flatMap(({ names, letters, words = [], after }) =>
    wordsIn(names).map((name) => [name, { letters, words: wordsIn(words), after }]),
  ),
);

const PROGRAM = new RegExp(
  `(?:^|[ \\t\\n/;|&(\`"'+-])(${[...PROGRAMS.keys()].sort((a, b) => b.length - a.length).join("|")})["']?,?[ \\t]([^\\n|;]*)`,
  "g",
);
const SHORT = /([ \t"'])-([A-Za-z])(["']?,?[ \t]{1,4})?/g;
const LONG = /(^|[ \t"'[(`=])(--?[A-Za-z][\w.-]{0,63})(["']?,?[ \t]{1,4})/g;
const BEFORE_OPTION = new Set(" \t\"'[(`=");
/** `add_argument("--token", type=str, default="x")` */
const DEFAULT = /(?:\w{1,20}=[\w.]{1,40},[ \t]{1,4}){0,4}default[ \t]?=[ \t]?(?=["'])/y;
const ARGUMENT = /[^ \t\r\n"']{1,4096}/y;
/** No command has as many; the rest is redacted unread. */
const OPTIONS_MAX = 100;

export function redactOptions(text: string, mode: Mode): string {
  return hasOption(text) ? redactLong(redactShort(text), mode) : text;
}

/** A fast check, since nearly all lines have none. */
function hasOption(text: string): boolean {
  for (let at = text.indexOf("-"); at !== -1; at = text.indexOf("-", at + 1))
    if (at === 0 || BEFORE_OPTION.has(text[at - 1]!)) return true;
  return false;
}

/** `mysql -psecret`, `curl -u me:secret`. */
function redactShort(text: string): string {
  let clean = "";
  let at = 0;
  let programs = 0;
  PROGRAM.lastIndex = 0;
  for (let match = PROGRAM.exec(text); match !== null; match = PROGRAM.exec(text)) {
    if (++programs > OPTIONS_MAX) return clean + text.slice(at, match.index) + REDACTED;
    const rest = match[2]!;
    const start = PROGRAM.lastIndex - rest.length;
    clean += text.slice(at, start) + redactCommand(rest, PROGRAMS.get(match[1]!)!);
    at = PROGRAM.lastIndex;
  }
  return at === 0 ? text : clean + text.slice(at);
}

function redactCommand(rest: string, { letters, words, after }: Program): string {
  if (after !== undefined && !new RegExp(`\\b${after}\\b`).test(rest)) return rest;
  const short = redactValues(
    ` ${rest}`,
    SHORT,
    (match, value) => letters.includes(match[2]!) && !(match[3] !== undefined && value.inner.startsWith("-")),
  ).slice(1);
  return redactValues(short, LONG, (match) => words.includes(match[2]!.slice(2)));
}

/** `--password secret`, also in the list of words that a program prints. */
function redactLong(text: string, mode: Mode): string {
  return redactValues(text, LONG, (match, value) => {
    const option = match[2]!;
    const strength = nameStrength(option);
    if (strength === "none" || /^--?no-/.test(option) || /^--?[A-Za-z]/.test(value.inner)) return false;
    if (mode === "strict") return true;
    // A help text says `--token TOKEN`.
    const name = value.inner.replace(/[\]),.:]{1,3}$/, "");
    if (/^[A-Z_]+$/.test(name) && option.toUpperCase().replaceAll("-", "_").includes(name)) return false;
    if (mode === "code") return isSecretInCode(value, strength, true);
    return (
      isSecretInLine(value.inner, "strong") && (strength === "strong" || !/^[-+.0-9eE]+$/.test(value.inner))
    );
  });
}

/** With the values after the matches of `find` redacted, where `isSecret` says so. */
function redactValues(
  text: string,
  find: RegExp,
  isSecret: (match: RegExpExecArray, value: Value) => boolean,
): string {
  let clean = "";
  let at = 0;
  let options = 0;
  find.lastIndex = 0;
  for (let match = find.exec(text); match !== null; match = find.exec(text)) {
    const start = match.index + match[0].length;
    if (++options > OPTIONS_MAX && !text.includes("\n")) return clean + text.slice(at, start) + REDACTED;
    const value = valueAt(text, start + matchAt(DEFAULT, text, start).length, ARGUMENT);
    if (value.inner === "" || isPlaceholder(value.inner) || !isSecret(match, value)) {
      // The separator of this one may begin the next.
      find.lastIndex = Math.max(match.index + 1, start - 1);
      continue;
    }
    clean += text.slice(at, value.start) + marked(value);
    at = value.end;
    find.lastIndex = at;
  }
  return at === 0 ? text : clean + text.slice(at);
}
