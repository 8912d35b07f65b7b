/** Checks that proto/gen is the output of `npm run generate`. Run it with `node tools/generated.ts`. */
import { glob, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { installCheckers } from "./install/checkers.ts";
import { runCommand } from "./command.ts";
import { ROOT } from "./sources.ts";

const FOLDER = "proto/gen";

async function readTree(top: string): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  for await (const entry of glob("**/*.ts", { cwd: join(top, FOLDER) })) {
    files.set(entry, await readFile(join(top, FOLDER, entry), "utf8"));
  }
  return files;
}

const fresh = await mkdtemp(join(tmpdir(), "cairn-generated-"));
try {
  await installCheckers();
  const { code, output } = await runCommand(["buf", "generate", "--output", fresh], { show: false });
  if (code !== 0) throw new Error(`buf generate failed:\n${output}`);
  const [committed, expected] = await Promise.all([readTree(ROOT), readTree(fresh)]);
  const names = new Set([...committed.keys(), ...expected.keys()]);
  const stale = [...names].filter((name) => committed.get(name) !== expected.get(name));
  for (const name of stale.sort()) console.log(`${FOLDER}/${name} is not up to date: npm run generate`);
  console.log(`${expected.size} generated files, ${stale.length} out of date`);
  if (stale.length > 0 || expected.size === 0) process.exitCode = 1;
} finally {
  await rm(fresh, { recursive: true });
}
