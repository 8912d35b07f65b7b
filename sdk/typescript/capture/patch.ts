import { isSecretName, REDACTED, redactLooks, redactPairs } from "./secrets.ts";

const PEM_BEGIN = /-----BEGIN [A-Z ]*PRIVATE KEY/;
const PEM_END = /-----END [A-Z ]*PRIVATE KEY/;
const PEM_BODY = /^[A-Za-z0-9+/=:,\s-]*$/;
/** The body of a binary change, which is no text. It ends with an empty line. */
const BINARY = /(^GIT binary patch\n[\s\S]*?\n\n(?:(?:literal|delta) \d+\n[\s\S]*?\n\n)?)/m;

/**
 * A patch without credentials. Lines keep their first character and their number, so that it still applies where none
 * was struck out, and elsewhere shows what to mend.
 */
export function redactPatch(patch: string): { text: string; isChanged: boolean } {
  const text = patch
    .split(BINARY)
    .map((part, at) => (at % 2 === 1 ? part : redactCode(redactKeys(part))))
    .join("");
  return { text, isChanged: text !== patch };
}

function redactCode(text: string): string {
  return redactPairs(redactLooks(text), (name, value) => isSecretName(name) && isLiteral(value));
}

/** In code a name such as `token` mostly stands for a variable; a value that somebody typed in looks otherwise. */
function isLiteral(value: string): boolean {
  if (/^(["'])[^\s"'\\]{8,}\1$/.test(value)) return /\d/.test(value) && /[A-Za-z]/.test(value);
  return /^[\w+/=.~-]{12,}$/.test(value) && /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/** Private keys in armour, line by line, also when only a part of one is in the patch. */
function redactKeys(text: string): string {
  if (!PEM_BEGIN.test(text) && !PEM_END.test(text)) return text;
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    if (PEM_BEGIN.test(lines[at]!)) strike(lines, at + 1, 1);
    else if (PEM_END.test(lines[at]!)) strike(lines, at - 1, -1);
  }
  return lines.map((line) => (PEM_BEGIN.test(line) ? (line[0] ?? "") + REDACTED : line)).join("\n");
}

function strike(lines: string[], start: number, direction: 1 | -1): void {
  for (let at = start; at >= 0 && at < lines.length; at += direction) {
    const body = lines[at]!.slice(1);
    if (body === REDACTED) return;
    if (!/^[-+ ]/.test(lines[at]!) || !PEM_BODY.test(body) || PEM_END.test(body) || PEM_BEGIN.test(body))
      return;
    lines[at] = lines[at]![0]! + REDACTED;
  }
}
