/**
 * Builds the pages when their sources have changed since the last build, by a hash over all of them: `node
 * web/build.ts`. The output contains the hash, so that outdated pages are never served.
 */
import { createHash } from "node:crypto";
import { globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "web", "dist");
const STAMP = "build.json";
/** Everything a page may be made of. The lock file stands for all packages. */
export const SOURCES = [
  "web/**/*.{ts,tsx,css,html,svg,json}",
  "sdk/typescript/**/*.ts",
  "proto/gen/**/*.ts",
  "lang/**/*.ts",
  "base/**/*.ts",
  "package-lock.json",
];
const SMALL_BYTES = 1_024;

function sourceHash(): string {
  const files = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: (name) => /^dist(-|$)|^node_modules$/.test(name) }),
  ).toSorted();
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(join(ROOT, file)));
  }
  return hash.digest("hex");
}

function builtHash(): string | undefined {
  try {
    return (JSON.parse(readFileSync(join(DIST, STAMP), "utf8")) as { hash: string }).hash;
  } catch {
    return undefined;
  }
}

/** Builds into a folder of this process. */
async function buildInto(folder: string, hash: string): Promise<void> {
  const { build } = await import("vite");
  // Always the production build of React, also in tests, because the one for development is slower.
  const kind = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    await build({ configFile: join(ROOT, "web", "vite.config.ts"), build: { outDir: folder } });
  } finally {
    if (kind === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = kind;
  }
  for (const file of globSync("**/*.{js,css,svg}", { cwd: folder })) {
    const bytes = readFileSync(join(folder, file));
    if (bytes.length >= SMALL_BYTES) writeFileSync(join(folder, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(join(folder, STAMP), `${JSON.stringify({ hash })}\n`);
}

function moveAway(folder: string): void {
  try {
    renameSync(DIST, folder);
  } catch {
    // There are no old pages, or another process has just moved them.
  }
}

/** Processes may build at the same time: each builds in its own folder, which then replaces the old one atomically. */
export async function buildWeb(): Promise<void> {
  const hash = sourceHash();
  if (builtHash() === hash) return;
  const startMs = performance.now();
  process.stderr.write("Building the pages …\n");
  const beside = mkdtempSync(join(ROOT, "web", "dist-"));
  try {
    await buildInto(join(beside, "new"), hash);
    // Another process may have built the same meanwhile.
    if (builtHash() !== hash) {
      moveAway(join(beside, "old"));
      renameSync(join(beside, "new"), DIST);
    }
  } catch (thrown) {
    if (builtHash() === hash) return;
    // Outdated pages are not used.
    rmSync(join(DIST, STAMP), { force: true });
    throw thrown;
  } finally {
    rmSync(beside, { recursive: true });
  }
  process.stderr.write(`Built in ${((performance.now() - startMs) / 1000).toFixed(1)} s.\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    await buildWeb();
  } catch (thrown) {
    // The API works without them.
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    process.stderr.write(`cairn: cannot build the pages: ${cause}\n  the server starts without them\n`);
  }
}
