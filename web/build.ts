/**
 * Builds the pages when their sources have changed since the last build, which a hash over all of them tells:
 * `node web/build.ts`. What is built carries the hash, so that nobody ever sees an old page.
 */
import { createHash } from "node:crypto";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const DIST = join(ROOT, "web", "dist");
const STAMP = join(DIST, "build.json");
/** Everything a page may be made of. The lock file stands for all packages. */
const SOURCES = [
  "web/**/*.{ts,tsx,css,html,svg,json}",
  "sdk/typescript/**/*.ts",
  "proto/gen/**/*.ts",
  "base/**/*.ts",
  "package-lock.json",
];
const SMALL_BYTES = 1_024;

function sourceHash(): string {
  const files = SOURCES.flatMap((pattern) =>
    globSync(pattern, { cwd: ROOT, exclude: (name) => name === "dist" || name === "node_modules" }),
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
    return (JSON.parse(readFileSync(STAMP, "utf8")) as { hash: string }).hash;
  } catch {
    return undefined;
  }
}

export async function buildWeb(): Promise<void> {
  const hash = sourceHash();
  if (builtHash() === hash) return;
  // The stamp goes first: a build that was broken off is none.
  rmSync(STAMP, { force: true });
  const startMs = performance.now();
  process.stderr.write("Building the pages …\n");
  const { build } = await import("vite");
  // Whoever builds, such as a test, gets what people get: React would be the slower one for developers otherwise.
  const kind = process.env["NODE_ENV"];
  process.env["NODE_ENV"] = "production";
  try {
    await build({ configFile: join(ROOT, "web", "vite.config.ts") });
  } finally {
    if (kind === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = kind;
  }
  for (const file of globSync("**/*.{js,css,svg}", { cwd: DIST })) {
    const bytes = readFileSync(join(DIST, file));
    if (bytes.length >= SMALL_BYTES) writeFileSync(join(DIST, `${file}.gz`), gzipSync(bytes, { level: 9 }));
  }
  writeFileSync(STAMP, `${JSON.stringify({ hash })}\n`);
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
