import type { Strength } from "./secret-names.ts";
import { RULES, setOf, whole } from "./secret-rules.ts";

/**
 * Where a text comes from. In `strict` text, such as a command line, everything under a secret name is struck out; a
 * `line` that a program printed also talks about passwords; in `code` a name mostly stands for a variable.
 */
export type Mode = "strict" | "line" | "code";

const { texts } = RULES;
const HARMLESS = setOf(texts.harmless);
const PLACEHOLDER = whole(texts.placeholder);
const WEAK = whole(...texts.weak);
const NUMBER = whole(texts.number);
const PATH = whole(texts.path);
const ATTRIBUTE = whole(texts.attribute);
const CODE = whole(...texts.code);
const CODE_QUOTED = whole(...texts.codeQuoted);
const CODE_STRONG = whole(...texts.codeStrong);
const CODE_STRONG_QUOTED = whole(...texts.codeStrongQuoted);
const ORDINARY = whole(texts.ordinary);
const COMMON_WORDS = setOf(texts.commonWords);

export interface Value {
  /** The quote it begins with, escaped or not; empty when there is none. */
  mark: string;
  /** Without quotes. */
  inner: string;
  /** Where it ends, with its quotes. */
  end: number;
  isClosed: boolean;
}

const OPENING = /\\{0,3}["']/y;
const PLAIN: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\[^\n])*/y,
  "'": /(?:[^'\\\n]|\\[^\n])*/y,
};
const WORD = /[^ \t\r\n"',;&<>()}\]]{1,4096}/y;

/** The value that begins at `start`: a quoted text, or what `unquoted` takes. */
export function valueAt(text: string, start: number, unquoted: RegExp = WORD): Value {
  const mark = matchAt(OPENING, text, start);
  const from = start + mark.length;
  if (mark === "") {
    const inner = matchAt(unquoted, text, from);
    return { mark, inner, end: from + inner.length, isClosed: false };
  }
  const inner = mark.length === 1 ? matchAt(PLAIN[mark]!, text, from) : upTo(mark, text, from);
  const end = from + inner.length;
  const isClosed = text.startsWith(mark, end);
  return { mark, inner, end: isClosed ? end + mark.length : end, isClosed };
}

function matchAt(sticky: RegExp, text: string, at: number): string {
  sticky.lastIndex = at;
  return sticky.exec(text)?.[0] ?? "";
}

/** Up to a mark on the same line, or to the end of the line. */
function upTo(mark: string, text: string, from: number): string {
  const line = text.indexOf("\n", from);
  const stop = line === -1 ? text.length : line;
  const found = text.slice(from, stop).indexOf(mark);
  return text.slice(from, found === -1 ? stop : from + found);
}

/** Words such as `required` or `${PASSWORD}`, which are no values. */
export function isPlaceholder(inner: string): boolean {
  return inner === "" || PLACEHOLDER.test(inner) || HARMLESS.has(inner.toLowerCase());
}

/** Whether a printed value is a secret, by the name it stands under. */
export function isSecretInLine(inner: string, strength: Strength): boolean {
  const first = firstWord(inner);
  if (isPlaceholder(inner) || isPlaceholder(first) || ORDINARY.test(first)) return false;
  if (strength === "strong") return inner.length > 3 || !NUMBER.test(inner);
  return !NUMBER.test(first) && !PATH.test(first) && WEAK.test(first);
}

/** Whether a value in code was typed in, and does not stand for a variable. */
export function isSecretInCode(
  { mark, inner }: Value,
  strength: Strength,
  /** Whether it stands as in a file of settings: `NAME=value` or `name: value`, and nothing after it. */
  isSetting: boolean,
): boolean {
  if (isCommon(inner) || inner.includes("${") || inner.includes("{{")) return false;
  if (mark !== "") return (strength === "strong" ? CODE_STRONG_QUOTED : CODE_QUOTED).test(inner);
  if (ATTRIBUTE.test(inner) || PATH.test(inner) || NUMBER.test(inner)) return false;
  return CODE.test(inner) || (strength === "strong" && isSetting && CODE_STRONG.test(inner));
}

/** Whether a value of the environment is too ordinary to be looked for everywhere. */
export function isCommon(value: string): boolean {
  return isPlaceholder(value) || COMMON_WORDS.has(value.toLowerCase()) || ORDINARY.test(value);
}

function firstWord(inner: string): string {
  const end = inner.search(/[ \t]/);
  const word = end === -1 ? inner : inner.slice(0, end);
  return word.replace(/[.,;:!)]{1,3}$/, "");
}
