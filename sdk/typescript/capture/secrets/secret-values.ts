import type { Strength } from "./secret-names.ts";
import { REDACTED, RULES, setOf, whole } from "./secret-rules.ts";

/**
 * Where a text comes from. In `strict` text, such as a command line, everything under a secret name is redacted; a
 * `line` that a program printed also talks about passwords; in `code` a name is mostly a variable, in `settings`
 * for a value.
 */
export type Mode = "strict" | "line" | "code" | "settings";

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
const SETTING = whole(texts.setting);
const SETTING_NOT = whole(texts.settingNot);
const ORDINARY = whole(texts.ordinary);
const COMMON_WORDS = setOf(texts.commonWords);

export interface Value {
  /** Where its quote begins; after a type, a call or the prefix of a literal, as in `str = Secret(b'x')`. */
  start: number;
  /** Whether it is given to a call. */
  isCall: boolean;
  /** The quote it begins with, escaped or not; empty when there is none. */
  mark: string;
  /** Without quotes. */
  inner: string;
  /** Where it ends, with its quotes. */
  end: number;
  isClosed: boolean;
}

const TYPE = new RegExp(texts.type, "y");
const CALL = new RegExp(texts.call, "y");
const PREFIX = new RegExp(texts.prefix, "y");
const OPENING = /\\{0,3}["']|&quot;/y;
const PLAIN: Readonly<Record<string, RegExp>> = {
  '"': /(?:[^"\\\n]|\\[^\n])*/y,
  "'": /(?:[^'\\\n]|\\[^\n])*/y,
};
const ELEMENTS = /["']([^"'\n]{8,512})["']/g;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
const WORD = /[^ \t\r\n"',;&<>()}\]]{1,4096}/y;

/** The value that begins at `begin`: a quoted text, or what `unquoted` takes. A type may precede it if `isTyped`. */
export function valueAt(text: string, begin: number, unquoted: RegExp = WORD, isTyped = false): Value {
  const type = isTyped ? matchAt(TYPE, text, begin).length : 0;
  const call = matchAt(CALL, text, begin + type).length;
  const isCall = call > 0;
  const start = begin + type + call + matchAt(PREFIX, text, begin + type + call).length;
  const mark = matchAt(OPENING, text, start);
  const from = start + mark.length;
  if (mark === "") {
    const inner = matchAt(unquoted, text, from);
    return { start, isCall, mark, inner, end: from + inner.length, isClosed: false };
  }
  const inner = mark.length === 1 ? matchAt(PLAIN[mark]!, text, from) : upTo(mark, text, from);
  const end = from + inner.length;
  const isClosed = text.startsWith(mark, end);
  return { start, isCall, mark, inner, end: isClosed ? end + mark.length : end, isClosed };
}

/** What replaces it. */
export function marked({ mark, isClosed }: Value): string {
  return mark + REDACTED + (isClosed ? mark : "");
}

export function matchAt(sticky: RegExp, text: string, at: number): string {
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

/** Words such as `required` or `${PASSWORD}`, which are not values. */
export function isPlaceholder(inner: string): boolean {
  return inner === "" || PLACEHOLDER.test(inner) || HARMLESS.has(inner.toLowerCase());
}

/** Whether a printed value is a secret, by its name. */
export function isSecretInLine(inner: string, strength: Strength): boolean {
  const first = firstWord(inner);
  if (isPlaceholder(inner) || isPlaceholder(first) || ORDINARY.test(first)) return false;
  if (strength === "strong") return inner.length > 3 || !NUMBER.test(inner);
  return !NUMBER.test(first) && !PATH.test(first) && WEAK.test(first);
}

/** Whether a value in code is a literal, not a variable. */
export function isSecretInCode(
  { mark, inner, isCall }: Value,
  strength: Strength,
  /** Whether it is written as in a file of settings: `NAME=value` or `name: value`, and nothing after it. */
  isSetting: boolean,
): boolean {
  if (isCommon(inner) || inner.includes("${") || inner.includes("{{")) return false;
  // What is given to a call is often a name, as in `Column("password_hash")`.
  if (mark !== "") return (strength === "strong" && !isCall ? CODE_STRONG_QUOTED : CODE_QUOTED).test(inner);
  if (ATTRIBUTE.test(inner) || PATH.test(inner) || NUMBER.test(inner)) return false;
  return CODE.test(inner) || (strength === "strong" && isSetting && CODE_STRONG.test(inner));
}

/** Whether a value in a file of settings is a secret, under a strong name. */
export function isSecretInSettings({ mark, inner, isCall }: Value): boolean {
  if (isCall || isCommon(inner) || inner.includes("${") || inner.includes("{{")) return false;
  // These characters do not begin a text in YAML.
  if (mark === "" && /^[[{&*!|>#%]/.test(inner)) return false;
  return SETTING.test(inner) && !SETTING_NOT.test(inner) && !ATTRIBUTE.test(inner) && !PATH.test(inner);
}

/** Whether the list or the dictionary under a weak name has a secret in it; tokens are often parts of words. */
export function holdsSecret(bracket: string, isOfTokens: boolean): boolean {
  return [...bracket.matchAll(ELEMENTS)].some(
    ([, inner]) =>
      !VARIABLE.test(inner!) && (isOfTokens ? CODE.test(inner!) : isSecretInLine(inner!, "weak")),
  );
}

/** Whether a value of the environment is too common to be searched for everywhere. */
export function isCommon(value: string): boolean {
  return isPlaceholder(value) || COMMON_WORDS.has(value.toLowerCase()) || ORDINARY.test(value);
}

function firstWord(inner: string): string {
  const end = inner.search(/[ \t]/);
  const word = end === -1 ? inner : inner.slice(0, end);
  return word.replace(/[.,;:!)]{1,3}$/, "");
}
