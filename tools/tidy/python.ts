import type { FunctionLength } from "./typescript.ts";

interface Statement {
  /** Of its first and last line, from 1. */
  line: number;
  lastLine: number;
  indent: number;
  text: string;
}

const DEFINITION = /^(?:async\s+)?def\s+(\w+)/;
/** Tokens that affect the continuation of a line: strings, comments, brackets, an escaped line end. */
const TOKEN = /"""|'''|["'#()[\]{}\n]|\\[^]/g;

/**
 * The lines of each function from `def` to the end of its last statement, functions in it included.
 * Decorators and comments after the last statement do not count. It goes by indentation, so that
 * Python need not be installed.
 */
export function measurePython(text: string): FunctionLength[] {
  const statements = splitStatements(text);
  const found: FunctionLength[] = [];
  for (const [index, { line, indent, text: first }] of statements.entries()) {
    const name = DEFINITION.exec(first)?.[1];
    if (name === undefined) continue;
    let last = index;
    while ((statements[last + 1]?.indent ?? -1) > indent) last += 1;
    found.push({ name, line, lines: statements[last]!.lastLine - line + 1 });
  }
  return found;
}

/** Statements in their order; one may span several lines. Blank lines and comments belong to none. */
function splitStatements(text: string): Statement[] {
  const lines = text.split("\n");
  const continued = continuedLines(text);
  const statements: Statement[] = [];
  for (const [index, content] of lines.entries()) {
    const line = index + 1;
    const code = content.trimStart();
    if (continued.has(line)) {
      const before = statements.at(-1);
      if (before !== undefined) before.lastLine = line;
    } else if (code !== "" && !code.startsWith("#")) {
      statements.push({ line, lastLine: line, indent: content.length - code.length, text: code });
    }
  }
  return statements;
}

/** Lines that begin inside a string or a bracket, or after a backslash. */
function continuedLines(text: string): Set<number> {
  const continued = new Set<number>();
  let line = 1;
  let depth = 0;
  /** The quotes that end the string, or `#` in a comment. */
  let inside: string | undefined;
  for (const [token] of text.matchAll(TOKEN)) {
    if (token.endsWith("\n")) {
      line += 1;
      const joined = token !== "\n" && inside !== "#";
      if (!joined && inside?.length === 1) inside = undefined;
      if (joined || inside !== undefined || depth > 0) continued.add(line);
    } else if (inside !== undefined) {
      if (token === inside) inside = undefined;
    } else if (/^["'#]/.test(token)) inside = token;
    else if (/[([{]/.test(token)) depth += 1;
    else if (/[)\]}]/.test(token)) depth -= 1;
  }
  return continued;
}
