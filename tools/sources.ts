import { glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The top of the repository. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** The folder with the manifest, the lock and the packages of tools/install/checkers.ts. */
export const CHECKERS: string = join(ROOT, "tools", "checkers");

const NOT_OURS = new Set(["node_modules", ".git", ".venv", "coverage", "dist"]);

/** TypeScript files of the repository by path from its top, with their text. Generated code is left out. */
export async function readSources(
  patterns: readonly string[] = ["**/*.{ts,tsx}"],
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of glob(patterns, {
    cwd: ROOT,
    exclude: (name) => NOT_OURS.has(name) || name === "proto/gen",
  })) {
    const path = entry.replaceAll("\\", "/");
    files.set(path, await readFile(join(ROOT, path), "utf8"));
  }
  return files;
}
