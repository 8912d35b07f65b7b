import { compileGlob } from "./glob.ts";

/** One line of an ignore file. */
interface Rule {
  /** It includes again what earlier lines ignore. */
  isNegated: boolean;
  isForFoldersOnly: boolean;
  /** `name` is the last part of the path, `path` is relative to the folder of the ignore file; both as bytes. */
  matches(name: string, path: string): boolean;
}

/** An ignore file: which paths below its folder it ignores. */
export interface IgnoreFile {
  /** undefined when no line matches it. `path` is relative to the folder of the file, with "/" between parts. */
  judge(path: string, isFolder: boolean): "ignored" | "kept" | undefined;
}

const RULES_MAX = 10_000;

/** The meaning of an ignore file, as git reads it: the last line that matches decides. */
export function parseIgnoreFile(text: string): IgnoreFile {
  const rules = text
    .replace(/^\ufeff/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .slice(0, RULES_MAX)
    .flatMap((line) => parseRule(line) ?? [])
    .reverse();
  return {
    judge(path, isFolder) {
      const bytes = asBytes(path);
      const name = bytes.slice(bytes.lastIndexOf("/") + 1);
      const rule = rules.find((one) => (isFolder || !one.isForFoldersOnly) && one.matches(name, bytes));
      if (rule === undefined) return undefined;
      return rule.isNegated ? "kept" : "ignored";
    },
  };
}

function parseRule(line: string): Rule | undefined {
  if (line.startsWith("#")) return undefined;
  let pattern = asBytes(withoutTrailingSpaces(line));
  const isNegated = pattern.startsWith("!");
  if (isNegated) pattern = pattern.slice(1);
  const isForFoldersOnly = pattern.endsWith("/");
  if (isForFoldersOnly) pattern = pattern.slice(0, -1);
  if (pattern === "") return undefined;
  if (!pattern.includes("/")) {
    const glob = compileGlob(pattern, { crossesSlash: true });
    return { isNegated, isForFoldersOnly, matches: (name) => glob.matches(name) };
  }
  if (pattern.startsWith("/")) pattern = pattern.slice(1);
  // Git compares the plain beginning first and then forgets it, so that `a**/b` means what `**/b` means after "a".
  const plain = /^[^*?[\\]*/.exec(pattern)![0];
  const glob = compileGlob(pattern.slice(plain.length), { crossesSlash: false });
  return {
    isNegated,
    isForFoldersOnly,
    matches: (_name, path) => path.startsWith(plain) && glob.matches(path.slice(plain.length)),
  };
}

/** A space with a backslash before it stays. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  for (let at = 0, keptEnd = 0; at < line.length; at++) {
    if (line[at] === "\\") {
      if (at + 1 === line.length) return line;
      at++;
      keptEnd = at + 1;
    } else if (line[at] !== " ") {
      keptEnd = at + 1;
    }
    end = keptEnd;
  }
  return line.slice(0, end);
}

function asBytes(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}
