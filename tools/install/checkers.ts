/**
 * Runs one of the tools that only checks, formatting and generated code need: `node tools/install/checkers.ts oxfmt`.
 * They are larger than half of the rest, and neither a start nor the tests of Cairn need them. So they have a manifest
 * and a lock of their own in tools/checkers, and are installed when one of them is first used.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { runCommand } from "../command.ts";
import { type Lock, readLock } from "../lockfile.ts";
import { CHECKERS } from "../sources.ts";

/** Not to be called twice at the same time in a fresh checkout. */
export async function installCheckers(): Promise<void> {
  if (await areInstalled()) return;
  console.log("installing the tools of tools/checkers (246 MB, once) …");
  const { code, output } = await runCommand(["npm", "ci", "--prefix", CHECKERS], { show: false });
  if (code === 0) return;
  throw new Error(
    `cannot install tools/checkers: ${output.trim()}\nWith a network, run: npm ci --prefix tools/checkers`,
  );
}

/** Whether node_modules has what the lock says; packages for other platforms may be absent. */
async function areInstalled(): Promise<boolean> {
  const [installed, { packages }] = await Promise.all([readInstalled(), readLock(CHECKERS)]);
  return Object.entries(packages).every(([folder, { integrity, optional = false }]) => {
    const found = installed[folder];
    return folder === "" || (found === undefined ? optional : found.integrity === integrity);
  });
}

async function readInstalled(): Promise<Lock["packages"]> {
  try {
    const text = await readFile(join(CHECKERS, "node_modules", ".package-lock.json"), "utf8");
    return (JSON.parse(text) as Lock).packages;
  } catch {
    return {};
  }
}

if (import.meta.main) {
  await installCheckers();
  const { code } = await runCommand(process.argv.slice(2), { show: true });
  process.exitCode = code ?? 1;
}
