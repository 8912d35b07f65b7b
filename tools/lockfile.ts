import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { ROOT } from "./sources.ts";

/** What we read of package.json. */
export interface Manifest {
  name: string;
  version: string;
  license: string;
  dependencies: Versions;
  devDependencies: Versions;
  optionalDependencies: Versions;
  overrides: Versions;
  /** Packages with a script that npm runs when it installs them, and whether it may. */
  allowScripts: Readonly<Record<string, boolean>>;
}

type Versions = Readonly<Record<string, string>>;

const NO_DEPENDENCIES = { dependencies: {}, devDependencies: {}, optionalDependencies: {}, overrides: {} };

/** One package in package-lock.json. */
export interface LockedPackage {
  /** Only if it differs from the folder: an alias. */
  name?: string;
  version?: string;
  integrity?: string;
  /** Where it was fetched from. Ours has none: npm uses its configured registry. */
  resolved?: string;
  link?: boolean;
  license?: string;
  dev?: boolean;
  optional?: boolean;
  hasInstallScript?: boolean;
  dependencies?: Versions;
  devDependencies?: Versions;
  optionalDependencies?: Versions;
  peerDependencies?: Versions;
}

export interface Lock {
  lockfileVersion: number;
  /** By folder, such as "node_modules/zod"; "" is the project itself. */
  packages: Readonly<Record<string, LockedPackage>>;
}

export async function readManifest(folder = ROOT): Promise<Manifest> {
  const manifest: unknown = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  return { ...NO_DEPENDENCIES, ...(manifest as Manifest) };
}

export async function readLock(folder = ROOT): Promise<Lock> {
  return JSON.parse(await readFile(join(folder, "package-lock.json"), "utf8")) as Lock;
}

/** The name of the package in a folder of node_modules. */
export function packageNameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

/** The folder in which Node finds a package that another one imports; undefined when it does not exist. */
export function locate({ packages }: Lock, from: string, name: string): string | undefined {
  for (let folder = from; ;) {
    const candidate = folder === "" ? `node_modules/${name}` : `${folder}/node_modules/${name}`;
    if (packages[candidate] !== undefined) return candidate;
    if (folder === "") return undefined;
    const above = folder.lastIndexOf("/node_modules/");
    folder = above < 0 ? "" : folder.slice(0, above);
  }
}
