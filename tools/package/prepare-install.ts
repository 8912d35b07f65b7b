/**
 * Builds the wheel of the Python client into `install/`, from where a server offers it, when its sources have changed
 * since the last time: `node tools/package/prepare-install.ts`. Other processes may do the same; a reader sees a whole
 * file.
 */
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../sources.ts";
import { CLIENT_FOLDER, clientSources, writeClientWheel } from "./client-wheel.ts";

const FOLDER: string = join(ROOT, "install");
const STAMP = "build.json";
/** Besides the modules. The tools decide how it is written. */
const OTHER_SOURCES = [
  "sdk/python/pyproject.toml",
  "sdk/python/README.md",
  "sdk/python/LICENSE",
  "package.json",
  "tools/package/client-wheel.ts",
  "tools/package/wheel.ts",
  "tools/package/zip.ts",
];

export async function prepareInstall(folder: string = FOLDER): Promise<void> {
  const hash = sourceHash();
  const built = readStamp(folder);
  if (built?.hash === hash && readdirSync(folder).includes(built.wheel)) return;
  mkdirSync(folder, { recursive: true });
  const path = await writeClientWheel(folder);
  const wheel = path.slice(folder.length + 1);
  // One of another version would be offered, too.
  for (const name of readdirSync(folder))
    if (name.endsWith(".whl") && name !== wheel) rmSync(join(folder, name));
  writeFileSync(join(folder, STAMP), `${JSON.stringify({ hash, wheel })}\n`);
}

function sourceHash(): string {
  const hash = createHash("sha256");
  const modules = clientSources().map((path) => join(CLIENT_FOLDER, path));
  for (const path of [...modules, ...OTHER_SOURCES.map((name) => join(ROOT, name))]) {
    hash.update(`${path.slice(ROOT.length)}\0`);
    hash.update(readFileSync(path));
  }
  return hash.digest("hex");
}

function readStamp(folder: string): { hash: string; wheel: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, STAMP), "utf8")) as { hash: string; wheel: string };
  } catch {
    return undefined;
  }
}
