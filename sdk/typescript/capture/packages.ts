import { readFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { redactUrl } from "./secrets/secrets.ts";

const FILE_BYTES_MAX = 32 << 20;
const PACKAGES_MAX = 2000;
const NAME = /^(?:@[^/@\s]+\/)?[^/@\s]+$/;

const Manifest = z.object({
  version: z.string().optional(),
  dependencies: z.record(z.string(), z.string()).optional(),
  devDependencies: z.record(z.string(), z.string()).optional(),
  optionalDependencies: z.record(z.string(), z.string()).optional(),
});

const LockFile = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), link: z.boolean().optional() })),
});

/**
 * The versions of the packages that a program in `dir` gets when it imports them: as npm installed them, else as
 * the lock file has them, else as the manifest requests them, with the version that is in `node_modules` where there is one.
 * Packages of the manifest come first. Empty when there is no manifest in the folder or above.
 */
export async function findPackages(dir: string): Promise<Map<string, string>> {
  const found = await findManifest(dir);
  if (found === undefined) return new Map();
  const { folder, manifest } = found;
  const asked = { ...manifest.optionalDependencies, ...manifest.devDependencies, ...manifest.dependencies };
  const installed =
    (await readLock(join(folder, "node_modules", ".package-lock.json"))) ??
    (await readLock(join(folder, "package-lock.json")));
  const packages = new Map<string, string>();
  for (const name of Object.keys(asked)
    .filter((one) => NAME.test(one))
    .sort()) {
    if (packages.size >= PACKAGES_MAX) break;
    const version = installed?.get(name) ?? (await versionOf(folder, name)) ?? asked[name]!;
    packages.set(name, redactUrl(version));
  }
  for (const name of [...(installed?.keys() ?? [])].sort()) {
    if (packages.size >= PACKAGES_MAX) break;
    if (!packages.has(name)) packages.set(name, redactUrl(installed!.get(name)!));
  }
  return packages;
}

async function findManifest(dir: string) {
  for (let folder = dir; ; folder = dirname(folder)) {
    const manifest = await read(join(folder, "package.json"), Manifest);
    if (manifest !== undefined) return { folder, manifest };
    if (dirname(folder) === folder) return undefined;
  }
}

/** Only the top level, which is what the program itself imports; others may have their own versions below. */
async function readLock(path: string): Promise<Map<string, string> | undefined> {
  const lock = await read(path, LockFile);
  if (lock === undefined) return undefined;
  const versions = new Map<string, string>();
  for (const [place, { version, link }] of Object.entries(lock.packages)) {
    const name = place.startsWith("node_modules/") ? place.slice("node_modules/".length) : "";
    if (NAME.test(name) && version !== undefined && link !== true) versions.set(name, version);
  }
  return versions;
}

async function versionOf(folder: string, name: string): Promise<string | undefined> {
  return (await read(join(folder, "node_modules", name, "package.json"), Manifest))?.version;
}

/** undefined when there is no such file, and when it is something else. */
async function read<T>(path: string, schema: z.ZodType<T>): Promise<T | undefined> {
  try {
    if ((await stat(path)).size > FILE_BYTES_MAX) return undefined;
    return schema.safeParse(JSON.parse(await readFile(path, "utf8"))).data;
  } catch {
    return undefined;
  }
}
