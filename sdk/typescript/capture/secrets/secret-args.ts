import { isSecretName } from "./secret-names.ts";
import { PROGRAMS } from "./secret-options.ts";
import { REDACTED, RULES, whole } from "./secret-rules.ts";
import { redactText } from "./secrets.ts";

const GLUED = whole(RULES.programs.glued);
const GLUED_NOT = whole(RULES.programs.gluedNot);

/** A command line without its secrets; the number of words stays. */
export function redactArgs(argv: readonly string[]): string[] {
  const clean: string[] = [];
  const seen = new Set<string>();
  let letters = "";
  let words: string[] = [];
  let nextIsSecret = false;
  for (const argument of argv) {
    if (nextIsSecret && !isOption(argument)) {
      clean.push(REDACTED);
      nextIsSecret = false;
      continue;
    }
    const short = /^-([A-Za-z])([^]*)$/.exec(argument);
    if (short !== null && letters.includes(short[1]!)) {
      // `-psecret` and `-p secret`.
      nextIsSecret = short[2] === "";
      clean.push(nextIsSecret ? argument : `-${short[1]}${REDACTED}`);
      continue;
    }
    if (isGluedPassword(argument)) {
      clean.push(`-p${REDACTED}`);
      nextIsSecret = false;
      continue;
    }
    seen.add(argument.slice(argument.lastIndexOf("/") + 1));
    ({ letters, words } = secretOptions(seen));
    nextIsSecret =
      /^--?[A-Za-z][\w.-]*$/.test(argument) && (takesSecret(argument) || words.includes(argument.slice(2)));
    clean.push(redactArgument(argument));
  }
  return clean;
}

/** `-psecret` of an unknown program. */
function isGluedPassword(argument: string): boolean {
  return argument.startsWith("-p") && GLUED.test(argument.slice(2)) && !GLUED_NOT.test(argument.slice(2));
}

/** The options with a password of the programs named so far. */
function secretOptions(seen: ReadonlySet<string>): { letters: string; words: string[] } {
  const found = [...PROGRAMS].filter(
    ([name, { after }]) => seen.has(name) && (after === undefined || seen.has(after)),
  );
  return {
    letters: found.map(([, { letters }]) => letters).join(""),
    words: found.flatMap(([, { words }]) => words),
  };
}

function takesSecret(option: string): boolean {
  return !/^--?no-/.test(option) && isSecretName(option);
}

/** `--token=--x y` is one word: with a secret name everything after the first `=` is the value. */
function redactArgument(argument: string): string {
  const pair = /^([-+~]{0,2}[A-Za-z_][\w./@-]*)=([^]+)$/.exec(argument);
  if (pair !== null && isSecretName(pair[1]!)) return `${pair[1]}=${REDACTED}`;
  return redactText(argument);
}

/** The word after a secret option is its value, unless it is clearly an option itself. */
function isOption(argument: string): boolean {
  return /^--[A-Za-z][A-Za-z-]*(?:=[^]*)?$/.test(argument) || /^-[A-Za-z]$/.test(argument);
}
