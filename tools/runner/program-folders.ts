/**
 * Folders of links to this machine's programs: one with those that every test may use, and one for each of the
 * programs that only some may. A test file gets a PATH of those it declares (tools/runner/declared-programs.ts), so
 * that one that uses an undeclared program fails here, and not on the machine that lacks it.
 */
import { readdirSync, symlinkSync, mkdirSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const COMMON = "common";

/** Makes them in `folder`, for the programs on `path`. `declarable` are the names that must be declared. */
export function makeProgramFolders(folder: string, path: string, declarable: ReadonlySet<string>): void {
  const seen = new Set<string>();
  mkdirSync(join(folder, COMMON), { recursive: true });
  for (const source of path.split(delimiter)) {
    for (const name of namesIn(source)) {
      if (seen.has(name)) continue;
      seen.add(name);
      const target = join(folder, declarable.has(name) ? name : COMMON);
      mkdirSync(target, { recursive: true });
      symlinkSync(resolve(source, name), join(target, name));
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    // A PATH may name folders that are not there.
    return [];
  }
}

/** The PATH of a test that declares these programs. */
export function pathOf(folder: string, programs: readonly string[]): string {
  return [...programs, COMMON].map((name) => join(folder, name)).join(delimiter);
}
