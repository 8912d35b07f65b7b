/**
 * What must not be recorded: passwords, tokens and keys. They are known by the name they are given under
 * (`--api-key x`, `DB_PASSWORD=x`) and by their format (`ghp_…`, a JWT, a password in a URL). In doubt a value is
 * redacted: a run that cannot be repeated exactly does less harm than a stolen credential.
 *
 * The rules are data, and the Python client reads the same; both make the same of every text. None takes more than
 * linear time, because what a program prints may be hostile.
 */
import { redactOptions } from "./secret-options.ts";
import { nameStrength, takesWholeLine, type Strength } from "./secret-names.ts";
import { hasTokenRun, LOOKS, PHRASES, REDACTED, RULES, wordsIn, type Look } from "./secret-rules.ts";
import {
  holdsSecret,
  isPlaceholder,
  isSecretInCode,
  isSecretInLine,
  isSecretInSettings,
  marked,
  valueAt,
  type Mode,
  type Value,
} from "./secret-values.ts";

/**
 * The user part of a URL. A password should have its slashes escaped; where one has not, the port of a host must not be
 * mistaken for it.
 */
const URL_USER = new RegExp(RULES.urls, "g");
/** The end of a name and the separator before its value: `a.token=`, `"api_key": `, `Password: `, `<secret>`. */
const NAME = new RegExp(
  `(?:${wordsIn(RULES.names.stems).join("|")})[\\w.-]{0,32}(?![\\w.-])(${RULES.names.separator})`,
  "gi",
);
const LOOSE = new RegExp(RULES.names.looseSeparator, "i");
/** A fast check, since nearly all lines have none. */
const SECRET_VARIABLE = new RegExp(`_(?:${wordsIn(RULES.names.variableParts).join("|")})`);
const VARIABLE_AND_SEPARATOR = new RegExp(RULES.names.variable, "g");
const VARIABLE_VALUE = /[^ \t\r\n"',;|<>()]{8,512}/y;
const GO_USER = new RegExp(RULES.goUsers, "g");
const NAME_CHARACTERS_MAX = 127;
const WORD_CHARACTERS_MAX = 20;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;
/** Values have a bound, because every name in a line may have one. */
const LINE = /[^\n,}\]]{1,4096}/y;
const WHOLE_LINE = /[^\n]+/y;
const NO_SPACE = /[^ \t\r\n"']{1,4096}/y;
const SETTING = /[^ \t\r\n"',}\]]{1,4096}/y;
const SETTING_END = /[ \t]{0,64}(?:[,}\]\r\n]|[ \t][#;]|$)/y;
const COMMENT = /[ \t]{1,64}#/y;
const ELEMENT = /[^<\n]{1,4096}/y;
const QUOTED_LINE: Readonly<Record<string, RegExp>> = {
  '"': /[^\n"]{1,4096}/y,
  "'": /[^\n']{1,4096}/y,
};
const PHRASE = new RegExp(PHRASES.flatMap(({ has }) => has).join("|"), "i");
const KEY_BEGIN = new RegExp(RULES.keys.begin, "g");
const KEY_END = new RegExp(RULES.keys.end, "g");
const KEY_RUN = new RegExp(RULES.keys.run);
/** Within these a key has begun; some lines about it may come before. */
const KEY_HEAD_CHARACTERS = 300;
const BRACKET_CHARACTERS_MAX = 4_096;
/** No program prints as many in one line; the rest is redacted unread. */
const NAMES_MAX = 500;
const VALUES_MAX = 100;

/** Text with every secret that can be recognised redacted. */
export function redactText(text: string, mode: Mode = "strict"): string {
  let clean = text.includes("@") ? redactUsers(text) : text;
  if (clean.includes("-----BEGIN")) clean = redactKey(clean, mode);
  const isFile = mode === "code" || mode === "settings";
  clean = redactPairs(redactOptions(clean, isFile ? "code" : mode), mode);
  return redactLooks(!isFile && SECRET_VARIABLE.test(clean) ? redactVariables(clean) : clean);
}

/** `postgres://ada:x@db`, and `ada:x@tcp(db)` as Go has it. */
function redactUsers(text: string): string {
  const clean = text.includes("://") ? text.replace(URL_USER, markUser) : text;
  return clean.includes("@tcp(") || clean.includes("@unix(")
    ? clean.replace(GO_USER, `$1${REDACTED}`)
    : clean;
}

/** Without user, password, and secrets among the parameters: the address stays one that can be used. */
export function redactUrl(url: string): string {
  return redactText(
    url.replace(URL_USER, (whole, scheme: string, user: string) =>
      keepsUser(scheme, user) ? whole : scheme,
    ),
  );
}

function markUser(whole: string, scheme: string, user: string): string {
  return keepsUser(scheme, user) ? whole : `${scheme}${REDACTED}@`;
}

/** A plain user name such as `git@` names an account, not a way in; and a template names variables. */
function keepsUser(scheme: string, user: string): boolean {
  if (user === "git@") return /^(?:git\+)?ssh:/i.test(scheme);
  return isPlaceholder(user.slice(user.indexOf(":") + 1, -1));
}

/** A private key on one line; in a strict text also over several. Its first line alone, as in code, is not a key. */
function redactKey(text: string, mode: Mode): string {
  let clean = "";
  let at = 0;
  KEY_BEGIN.lastIndex = 0;
  for (let begin = KEY_BEGIN.exec(text); begin !== null; begin = KEY_BEGIN.exec(text)) {
    const from = KEY_BEGIN.lastIndex;
    const line = mode === "strict" ? -1 : text.indexOf("\n", from);
    const lineEnd = line === -1 ? text.length : line;
    const isKey =
      mode === "strict" || KEY_RUN.test(text.slice(from, Math.min(lineEnd, from + KEY_HEAD_CHARACTERS)));
    if (!isKey) continue;
    KEY_END.lastIndex = from;
    const end = KEY_END.exec(text);
    const stop = end === null || end.index > lineEnd ? lineEnd : end.index + end[0].length;
    clean += text.slice(at, begin.index) + REDACTED;
    at = stop;
    KEY_BEGIN.lastIndex = stop;
  }
  return clean + text.slice(at);
}

/** Values in the format of a credential, anywhere. */
function redactLooks(text: string): string {
  const clean = hasTokenRun(text) ? LOOKS.reduce((all, look) => redactMatches(all, all, look), text) : text;
  if (!PHRASE.test(clean)) return clean;
  const lower = clean.toLowerCase();
  return PHRASES.reduce((all, phrase) => redactMatches(all, lower, phrase), clean);
}

function redactMatches(text: string, searched: string, { has, find, needs, otherwiseLength }: Look): string {
  if (!has.some((one) => searched.includes(one))) return text;
  return text.replace(find, (whole: string, group: unknown) => {
    const kept = typeof group === "string" ? group : "";
    const secret = whole.slice(kept.length);
    return secret.length >= otherwiseLength || needs.test(secret) ? kept + REDACTED : whole;
  });
}

/** With the values of all names that are secret redacted. */
function redactPairs(text: string, mode: Mode): string {
  let clean = "";
  let at = 0;
  let names = 0;
  let values = 0;
  NAME.lastIndex = 0;
  for (let match = NAME.exec(text); match !== null; match = NAME.exec(text)) {
    if ((++names > NAMES_MAX || values > VALUES_MAX) && (mode === "line" || mode === "strict"))
      return clean + text.slice(at, match.index) + REDACTED;
    const start = match.index + match[0].length;
    const name = nameBefore(text, match);
    if (name === undefined) continue;
    values++;
    const value = pairValue(text, start, { ...name, mode, separator: match[1]! });
    if (value === undefined) continue;
    clean += text.slice(at, value.start) + marked(value);
    at = value.end;
    NAME.lastIndex = Math.max(at, start);
  }
  return at === 0 ? text : clean + text.slice(at);
}

/** `HF_TOKEN x`, as in tables and sentences. */
function redactVariables(text: string): string {
  const find = VARIABLE_AND_SEPARATOR;
  let clean = "";
  let at = 0;
  find.lastIndex = 0;
  for (let match = find.exec(text); match !== null; match = find.exec(text)) {
    const value = valueAt(text, find.lastIndex, VARIABLE_VALUE);
    if (nameStrength(match[1]!) !== "strong" || !isSecretInLine(value.inner, "weak")) continue;
    clean += text.slice(at, value.start) + marked(value);
    at = value.end;
    find.lastIndex = at;
  }
  return at === 0 ? text : clean + text.slice(at);
}

/** The whole name whose end was found, and the character before it. */
function nameBefore(text: string, { index, 0: found, 1: separator }: RegExpExecArray): Name | undefined {
  let from = scanBack(text, index, NAME_CHARACTERS_MAX, isNameCharacter);
  // `access%5Ftoken`
  if (text[from - 1] === "%") from = Math.min(from + 2, index);
  const name = text.slice(from, index + found.length - separator!.length);
  // In a connection string PWD is not the working directory.
  const strength = name === "PWD" && text[from - 1] === ";" ? "strong" : nameStrength(name);
  const isKey = strength === "none" && name.length <= 4 && /^keys?$/i.test(name);
  if (strength === "none" && !isKey) return undefined;
  const opening = /^[\\"'&]/.test(separator!) ? "" : text.slice(Math.max(0, from - 1), from);
  // A pair, and not one of a list of names.
  if (
    separator!.includes(",") &&
    (name.includes(".") || !/[([]["']$/.test(text.slice(Math.max(0, from - 2), from)))
  )
    return undefined;
  const word = /[ \t]/.test(opening)
    ? text.slice(scanBack(text, from - 1, WORD_CHARACTERS_MAX, isLetter), from - 1)
    : "";
  // `API key: x` is one, and `next token: x` is not.
  const both = word === "" ? strength : nameStrength(`${word}_${name}`);
  return both === "none" ? undefined : { strength: isKey ? both : strength, name, opening };
}

interface Name {
  strength: Strength;
  name: string;
  opening: string;
}

function scanBack(text: string, end: number, charactersMax: number, is: (code: number) => boolean): number {
  const floor = Math.max(0, end - charactersMax);
  let from = end;
  while (from > floor && is(text.charCodeAt(from - 1))) from--;
  return from;
}

function isLetter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90);
}

/** Letters, digits, and - . _ */
function isNameCharacter(code: number): boolean {
  return isLetter(code) || (code >= 48 && code <= 57) || code === 45 || code === 46 || code === 95;
}

interface Pair extends Name {
  mode: Mode;
  separator: string;
}

/** What is to be redacted; undefined when it is not a secret. */
function pairValue(text: string, start: number, pair: Pair): Value | undefined {
  const { mode, strength, name, opening, separator } = pair;
  if (separator.endsWith(">") && !separator.endsWith("=>")) {
    const value = valueAt(text, start, ELEMENT);
    return opening === "<" && isSecretInLine(value.inner, "strong") ? value : undefined;
  }
  const isTyped = separator.includes(":");
  if (mode === "settings" && strength === "strong" && !LOOSE.test(separator)) {
    const value = valueAt(text, start, SETTING);
    if ((value.mark !== "" || endsSetting(text, value.end)) && isSecretInSettings(value)) return value;
  }
  if (mode === "code" || mode === "settings") {
    const value = valueAt(text, start, undefined, isTyped);
    return isSecretInCode(value, strength, isSetting(text, value, pair)) ? value : undefined;
  }
  const isLoose = LOOSE.test(separator);
  const isSure = mode === "strict" || strength === "strong";
  if ((text[start] === "{" || text[start] === "[") && !isLoose) {
    const bracket = bracketValue(text, start, isSure);
    if (isSure)
      return mode === "line" && opening !== ";" && isPlaceholder(bracket.inner) ? undefined : bracket;
    if (holdsSecret(bracket.inner, /tokens?$/i.test(name))) return bracket;
  }
  const isLine = /[:：]$/.test(separator.trimEnd()) && isSure;
  const value = valueAt(text, start, unquotedForm(isLine, name, opening), isTyped);
  if (value.inner === "") return undefined;
  if (mode === "strict" && !isLoose) return value;
  if (isLine && takesWholeLine(name) && value.inner.length >= 12 && /[ =]/.test(value.inner)) return value;
  return isSecretInLine(value.inner, isLoose ? "weak" : strength) ? value : undefined;
}

/** After `name: ` the rest of the line, up to the quote around the name; of a list of variables all of one. */
function unquotedForm(isLine: boolean, name: string, opening: string): RegExp | undefined {
  if (!isLine) return VARIABLE.test(name) && /^[ \t]?$/.test(opening) ? NO_SPACE : undefined;
  return QUOTED_LINE[opening] ?? (takesWholeLine(name) ? WHOLE_LINE : LINE);
}

/** `NAME=value` and `name: value` at the end of a line are settings; ` = ` is mostly code. */
function isSetting(text: string, value: Value, { separator }: Pair): boolean {
  const next = text[value.end];
  const isLast = next === undefined || next === "\n" || next === "\r" || startsComment(text, value.end);
  return isLast && /^["']?(?:=|:[ \t])$/.test(separator);
}

function startsComment(text: string, at: number): boolean {
  COMMENT.lastIndex = at;
  return COMMENT.test(text);
}

/** Whether nothing but a comment follows on the line, or the next of several settings. */
function endsSetting(text: string, at: number): boolean {
  SETTING_END.lastIndex = at;
  return SETTING_END.test(text);
}

/** Bounded, because the value is only inspected. */
function bracketValue(text: string, start: number, isWhole: boolean): Value {
  const stop = isWhole ? text.length : Math.min(text.length, start + BRACKET_CHARACTERS_MAX);
  let depth = 0;
  let end = start;
  do {
    if (text[end] === "{" || text[end] === "[") depth++;
    else if (text[end] === "}" || text[end] === "]") depth--;
    end++;
  } while (depth > 0 && end < stop);
  return { start, isCall: false, mark: "", inner: text.slice(start, end), end, isClosed: false };
}
