import { matchesGlob } from "node:path";
import { expect, it } from "vitest";

import packageJson from "../package.json" with { type: "json" };
import { SOURCES } from "../web/build.ts";
import { aliasesFrom, findReferences, resolve } from "./layers.ts";
import { readSources } from "./sources.ts";

/** Every file that the pages import, and what these import. */
async function filesOfPages(): Promise<Set<string>> {
  const aliases = aliasesFrom(packageJson.imports);
  const sources = await readSources();
  const found = new Set(["web/src/app/main.tsx"]);
  for (const file of found) {
    for (const { specifier } of findReferences(file, sources.get(file) ?? "")) {
      const target = resolve(file, specifier, aliases);
      if (target !== undefined) found.add(target);
    }
  }
  return found;
}

it("the pages are built again when any of their source files changes", async () => {
  const files = await filesOfPages();
  expect(files.size).toBeGreaterThan(300);
  expect([...files].filter((file) => !SOURCES.some((pattern) => matchesGlob(file, pattern)))).toEqual([]);
});
