import { type ESTree, parseSync } from "vite";

/** The syntax tree of a file. Throws with the file's name when it is not TypeScript. */
export function parseSource(path: string, text: string): ESTree.Program {
  const { program, errors } = parseSync(path, text, { lang: path.endsWith(".tsx") ? "tsx" : "ts" });
  if (errors.length > 0) throw new Error(`cannot parse ${path}: ${errors[0]?.message}`);
  return program;
}

export function lineOf(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
