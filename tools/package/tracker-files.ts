import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

import { ROOT } from "../sources.ts";
import { bundleApp } from "./app-bundle.ts";
import { writeClientWheel } from "./client-wheel.ts";
import { trackerManifest } from "./manifests.ts";
import { jsonFile, type PackageFiles } from "./tarball.ts";

/** Files of the package that are not code of the checkout. */
const OWN = join(ROOT, "tools", "package", "tracker");
/** What the code opens by its place in the tree. */
const DATA = [
  "cli/completion/cairn.*",
  "store/sqlite/file/migrations/*.sql",
  "web/dist/{index.html,build.json,licenses.md}",
  "web/dist/assets/*",
];
/** What the code opens and does not miss: the compile cache of a checkout. */
const ONLY_IN_CHECKOUT = new Set(["tsconfig.json", "node_modules/.cache/cairn", "."]);

/** The content of `cairn-tracker`: the compiled server and command line, the built pages, the wheel of the Python client. */
export async function trackerFiles(): Promise<PackageFiles> {
  const { files: code, opened } = await bundleApp();
  const files: PackageFiles = new Map();
  for (const [path, text] of code) files.set(path, Buffer.from(text));
  for (const path of globSync(DATA, { cwd: ROOT })) files.set(path, readFileSync(join(ROOT, path)));
  for (const path of ["bin/cairn.cjs", "README.md"]) files.set(path, readFileSync(join(OWN, path)));
  files.set("LICENSE", readFileSync(join(ROOT, "LICENSE")));
  files.set("package.json", jsonFile(trackerManifest()));
  await addClientWheel(files);
  for (const path of opened) {
    const isThere = files.has(path) || [...files.keys()].some((each) => each.startsWith(path));
    if (!isThere && !ONLY_IN_CHECKOUT.has(path))
      throw new Error(`cannot package: the code opens ${path}, which is left out`);
  }
  return files;
}

/** The server offers it for download. */
async function addClientWheel(files: PackageFiles): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "cairn-wheel-"));
  try {
    const wheel = await writeClientWheel(folder);
    files.set(`install/${basename(wheel)}`, readFileSync(wheel));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
