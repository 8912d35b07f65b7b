import { isSecretPath, isSettingsFile } from "./secrets/secret-files.ts";
import { REDACTED, RULES, whole } from "./secrets/secret-rules.ts";
import { Blocks } from "./secrets/secret-lines.ts";
import { redactText } from "./secrets/secrets.ts";

const KEY_BEGIN = new RegExp(RULES.keys.begin);
const KEY_END = new RegExp(RULES.keys.end);
const KEY_BODY = whole(RULES.keys.body);
/** The body of a binary change, which is not text. It ends with an empty line. */
const BINARY = /(^GIT binary patch\n[\s\S]*?\n\n(?:(?:literal|delta) \d+\n[\s\S]*?\n\n)?)/m;

/**
 * A patch without credentials. Lines keep their first character and their number, so that it still applies where none
 * was redacted, and elsewhere shows what to fix. Files that hold secrets are dropped.
 */
export function redactPatch(patch: string): { text: string; isChanged: boolean } {
  const text = patch
    .split(/^(?=diff --git )/m)
    .map(redactSection)
    .join("");
  return { text, isChanged: text !== patch };
}

/** The part of a patch for one file. */
function redactSection(section: string): string {
  const path = pathOf(section);
  if (isSecretPath(path)) return "";
  return section
    .split(BINARY)
    .map((part, at) => (at % 2 === 1 ? part : redactLines(part, path, PATCH_LINE)))
    .join("");
}

/** The first line has it twice, as `a/x b/x` or `"a/x" "b/x"`; empty where there is none. */
function pathOf(section: string): string {
  const both = /^diff --git ([^\n]+)/.exec(section)?.[1] ?? "";
  return both
    .slice((both.length + 1) / 2)
    .replace(/^"?b\//, "")
    .replace(/"$/, "");
}

/**
 * The same for a file of source or settings; `redactKnown` redacts the secrets of the environment. The same buffer when there is
 * nothing to redact. Bytes of any encoding are kept.
 */
export function redactFile(content: Buffer, path: string, redactKnown: (text: string) => string): Buffer {
  const text = content.toString("latin1");
  const clean = redactLines(redactKnown(text), path, FILE_LINE);
  return clean === text ? content : Buffer.from(clean, "latin1");
}

function redactLines(text: string, path: string, mark: RegExp): string {
  const clean = redactKeys(text, mark);
  return isSettingsFile(path) ? redactText(redactBlocks(clean, mark), "settings") : redactText(clean, "code");
}

/** The first character of a line, where it is not part of the text. */
const PATCH_LINE = /^[-+ ]/;
const FILE_LINE = /^/;

/** Values that begin on the line after their name. */
function redactBlocks(text: string, mark: RegExp): string {
  const blocks = new Blocks();
  return text
    .split("\n")
    .map((line) => {
      const first = mark.exec(line)?.[0] ?? "";
      const redacted = blocks.take(line.slice(first.length));
      return redacted === undefined ? line : first + redacted;
    })
    .join("\n");
}

/** Private keys in PEM, line by line, also when only a part of one is in the text. */
function redactKeys(text: string, mark: RegExp): string {
  if (!text.includes("PRIVATE KEY")) return text;
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const begins = KEY_BEGIN.test(line);
    const ends = KEY_END.test(line);
    if (ends && !begins) redactKeyLines(lines, at - 1, -1, mark);
    // Without the key, the first line may be that of a program that looks for keys.
    else if (begins && !ends && redactKeyLines(lines, at + 1, 1, mark) > 0)
      lines[at] = (mark.exec(line)?.[0] ?? "") + REDACTED;
  }
  return lines.join("\n");
}

/** Returns how many lines it was. */
function redactKeyLines(lines: string[], start: number, direction: 1 | -1, mark: RegExp): number {
  let count = 0;
  for (let at = start; at >= 0 && at < lines.length; at += direction) {
    const first = mark.exec(lines[at]!)?.[0];
    const body = lines[at]!.slice(first?.length ?? 0).trim();
    if (first === undefined || body === REDACTED || !KEY_BODY.test(body)) break;
    if (body === "") continue;
    if (++count > RULES.keys.linesMax) break;
    lines[at] = first + REDACTED;
  }
  return count;
}
