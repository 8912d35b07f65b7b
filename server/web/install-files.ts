import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Beside `server/`, in a checkout as in a package. */
const FOLDER = fileURLToPath(new URL("../../install/", import.meta.url));
const WHEEL = /^cairn_tracker-[\w.!+]+-py3-none-any\.whl$/;

export interface InstallFile {
  name: string;
  bytes: Uint8Array;
  sha256: string;
}

/** Packages of clients, which every server offers for download. */
export interface InstallFiles {
  list(): InstallFile[];
  file(name: string): InstallFile | undefined;
}

/** Read when they are first asked for, and again when they were built again. */
export function openInstallFiles(folder: string = FOLDER): InstallFiles {
  const known = new Map<string, InstallFile & { changedMs: number }>();
  const file = (name: string): InstallFile | undefined => {
    // Only existing names are ever opened.
    if (!namesIn(folder).includes(name)) return undefined;
    try {
      const path = join(folder, name);
      const { mtimeMs: changedMs } = statSync(path);
      const before = known.get(name);
      if (before?.changedMs === changedMs) return before;
      const bytes = readFileSync(path);
      const found = { name, bytes, sha256: createHash("sha256").update(bytes).digest("hex"), changedMs };
      known.set(name, found);
      return found;
    } catch {
      // Replaced a moment ago.
      return undefined;
    }
  };
  return {
    file,
    list: () => namesIn(folder).flatMap((name) => file(name) ?? []),
  };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => WHEEL.test(name))
      .toSorted();
  } catch {
    return [];
  }
}
