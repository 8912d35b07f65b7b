import { execFileSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";

import { findProgram } from "../../../tools/needs.ts";

/** What the Containerfile runs, besides node and npm. */
const PROGRAMS = ["chown", "env", "mkdir", "sh"];

/**
 * Makes a small root file system of this machine's programs: it has what `node:24-slim` has that our Containerfile
 * needs. A test must not depend on a registry of images.
 */
export function makeNodeRoot(root: string): void {
  for (const name of ["usr/bin", "usr/lib/node_modules", "etc", "tmp"])
    mkdirSync(join(root, name), { recursive: true });
  chmodSync(join(root, "tmp"), 0o1777);
  symlinkSync("usr/bin", join(root, "bin"));
  copyProgram(root, "node", process.execPath);
  for (const name of PROGRAMS) copyProgram(root, name, realpathSync(locate(name)));
  const npm = dirname(dirname(realpathSync(locate("npm"))));
  cpSync(npm, join(root, "usr", "lib", "node_modules", "npm"), { recursive: true });
  symlinkSync("../lib/node_modules/npm/bin/npm-cli.js", join(root, "usr", "bin", "npm"));
}

/** Copies a program with the shared libraries that it loads. */
function copyProgram(root: string, name: string, file: string): void {
  cpSync(file, join(root, "usr", "bin", name));
  for (const [library] of execFileSync("ldd", [file], { encoding: "utf8" }).matchAll(/\/\S+/g)) {
    const target = join(root, library);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(realpathSync(library), target);
  }
}

function locate(name: string): string {
  const found = findProgram(name);
  if (found === undefined) throw new Error(`this machine has no ${name}`);
  return found;
}
