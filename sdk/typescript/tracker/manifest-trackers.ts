/**
 * Trackers that packages bring along. A package says in its manifest:
 *
 *     "torchx.tracker": { "mine": "./tracker.js:create" }
 *
 * and is found when the application depends on it. Only manifests are read here; no code of a package runs before
 * its tracker is named.
 */
import { readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

export interface ManifestTracker {
  /** `module:factory`, as seen from the package. */
  specifier: string;
  packageDir: string;
}

interface Manifest {
  dir: string;
  content: Record<string, unknown>;
}

const DEPENDENCIES = ["dependencies", "optionalDependencies", "peerDependencies", "devDependencies"];
/** More than any manifest lists; each costs a look into a folder. */
const PACKAGES_MAX = 2_000;

/** undefined when no manifest names it. The application's own comes first, then its packages by name. */
export async function manifestTracker(name: string, cwd: string): Promise<ManifestTracker | undefined> {
  const application = await nearestManifest(resolve(cwd));
  if (application === undefined) return undefined;
  const own = trackerOf(application, name);
  if (own !== undefined) return own;
  const packages = new Set(DEPENDENCIES.flatMap((kind) => Object.keys(asObject(application.content[kind]))));
  for (const dependency of [...packages].sort().slice(0, PACKAGES_MAX)) {
    const manifest = await installedManifest(dependency, application.dir);
    const found = manifest === undefined ? undefined : trackerOf(manifest, name);
    if (found !== undefined) return found;
  }
  return undefined;
}

function trackerOf({ dir, content }: Manifest, name: string): ManifestTracker | undefined {
  const trackers = asObject(content["torchx.tracker"]);
  const specifier = Object.hasOwn(trackers, name) ? trackers[name] : undefined;
  return typeof specifier === "string" ? { specifier, packageDir: dir } : undefined;
}

async function nearestManifest(from: string): Promise<Manifest | undefined> {
  for (const dir of upwards(from)) {
    const manifest = await readManifest(dir);
    if (manifest !== undefined) return manifest;
  }
  return undefined;
}

async function installedManifest(name: string, from: string): Promise<Manifest | undefined> {
  // A name is one folder, or two with a scope; anything else would lead out of node_modules.
  if (!/^(?:@[^/\\]+\/)?[^/\\.][^/\\]*$/.test(name)) return undefined;
  for (const dir of upwards(from)) {
    const manifest = await readManifest(join(dir, "node_modules", name));
    if (manifest !== undefined) return manifest;
  }
  return undefined;
}

function* upwards(from: string): Generator<string> {
  for (let dir = from; ; dir = dirname(dir)) {
    yield dir;
    if (dirname(dir) === dir) return;
  }
}

async function readManifest(dir: string): Promise<Manifest | undefined> {
  try {
    return { dir, content: asObject(JSON.parse(await readFile(join(dir, "package.json"), "utf8"))) };
  } catch {
    return undefined;
  }
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
