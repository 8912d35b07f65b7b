import { RULES, setOf, whole, wordsIn } from "./secret-rules.ts";

const { names } = RULES;
const STEMS = new RegExp(wordsIn(names.stems).join("|"), "i");
const ANYWHERE = setOf(names.anywhere);
const GLUED = whole(...names.glued);
const LAST = setOf(names.last);
const LAST_NOT_AFTER = setOf(names.lastNotAfter);
const KEY_AFTER = setOf(names.keyAfter);
const TOKEN_NOT_AFTER = setOf(names.tokenNotAfter);
const TOKEN_NOT_BEFORE = setOf(names.tokenNotBefore);
const NOT_LAST = setOf(names.notLast);
const WEAK = setOf(names.weak);
const STRONG_WITH_OTHERS = setOf(names.strongWithOthers);
const KEY_WEAK_AFTER = setOf(names.keyWeakAfter);
const WHOLE_LINE = setOf(names.wholeLine);

/**
 * How certain a name is that of a secret. A `token` or `auth` in a log is often something else, so there
 * the value must look like one as well; after `password` or `HF_TOKEN=` it need not.
 */
export type Strength = "none" | "weak" | "strong";

const CACHE_MAX = 2_000;
/** Programs print the same names again and again. */
const known = new Map<string, Strength>();

/** Whether a value with this name (of an option, a variable, a field) is a secret. */
export function isSecretName(name: string): boolean {
  return nameStrength(name) !== "none";
}

export function nameStrength(name: string): Strength {
  let strength = known.get(name);
  if (strength === undefined) {
    strength = judgeName(name);
    if (known.size >= CACHE_MAX) known.clear();
    known.set(name, strength);
  }
  return strength;
}

/** Whether a name ends with a secret: `openai_key` does, `token_stats` does not. */
export function endsAsSecret(name: string): boolean {
  const words = wordsOf(name);
  return nameStrength(name) === "strong" && isSecretWord(words, words.length - 1, name);
}

/** Whether everything up to the end of the line belongs to it, as in `Authorization: Digest a="b", c="d"`. */
export function takesWholeLine(name: string): boolean {
  return WHOLE_LINE.has(wordsOf(name).at(-1) ?? "");
}

function judgeName(name: string): Strength {
  if (!STEMS.test(name)) return "none";
  const words = wordsOf(name);
  if (words.length === 0 || NOT_LAST.has(words.at(-1)!)) return "none";
  // The name of an environment variable describes its value.
  const isVariable = /^[A-Z][A-Z0-9_]*$/.test(name) && name !== "KEY" && name !== "TOKEN";
  let strength: Strength = "none";
  for (const [at, word] of words.entries()) {
    if (!isSecretWord(words, at, name)) continue;
    if (!isWeakWord(words, at) || (isVariable && !word.endsWith("s"))) return "strong";
    strength = "weak";
  }
  return strength;
}

function isWeakWord(words: readonly string[], at: number): boolean {
  const word = words[at]!;
  if (word === "key") return KEY_WEAK_AFTER.has(words[at - 1] ?? "");
  return WEAK.has(word) && !(at > 0 && at === words.length - 1 && STRONG_WITH_OTHERS.has(word));
}

function isSecretWord(words: readonly string[], at: number, name: string): boolean {
  const word = words[at]!;
  const before = words[at - 1] ?? "";
  if (word === "key" || word === "keys") return KEY_AFTER.has(before);
  if (word === "token" || word === "tokens")
    return !TOKEN_NOT_AFTER.has(before) && !TOKEN_NOT_BEFORE.has(words[at + 1] ?? "");
  // PWD and OLDPWD are working directories.
  if (word === "pwd") return words.length > 1 || name !== name.toUpperCase();
  if (LAST.has(word)) return at === words.length - 1 && !LAST_NOT_AFTER.has(before);
  return ANYWHERE.has(word) || GLUED.test(word);
}

/** `--hubAPIKey2` has the words hub, api, key. */
function wordsOf(name: string): string[] {
  return name
    .slice(-128)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/^([a-z]{3,})[0-9]{1,3}$/, "$1"))
    .filter((word) => word !== "" && !/^[0-9]{1,3}$/.test(word));
}
