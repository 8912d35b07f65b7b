/**
 * The content of `cairn-sdk`: one JavaScript file and one file of types for each source file. Packages are not
 * compiled into it, because their types and classes are part of what it offers.
 */
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, posix } from "node:path";

import packageJson from "../../package.json" with { type: "json" };
import { runCommand } from "../command.ts";
import { findReferences, packageName } from "../layers.ts";
import { ROOT } from "../sources.ts";
import { sdkManifest } from "./manifests.ts";
import { jsonFile, type PackageFiles } from "./tarball.ts";

const SDK = "sdk/typescript";
/** What programs import, and what is started by its path. */
const ENTRIES = [
  "index.ts",
  "browser.ts",
  "tracker/index.ts",
  "tracker/conformance.ts",
  "run/leftovers-main.ts",
];
const VERSION_MODULE = `${SDK}/version.js`;
/** A text that may name a module of ours: "./map.ts", "#lang/errors.ts". */
const MODULE_TEXT = /(["'])(?<path>(?:\.{1,2}|#\w+)\/[^"'\n]+)\.ts\1/g;
const ALIASES = Object.entries(packageJson.imports).map(([alias, target]) => ({
  alias: alias.replace("*", ""),
  folder: target.replace(/^\.\//, "").replace("*", ""),
}));

export async function sdkFiles(): Promise<PackageFiles> {
  const compiled = await compile();
  const packages = new Set<string>();
  const files: PackageFiles = new Map();
  for (const [path, text] of compiled) {
    const fixed = path === VERSION_MODULE ? constantVersion() : fixModuleTexts(path, text, compiled);
    files.set(`lib/${path}`, Buffer.from(fixed));
    if (path.endsWith(".json")) continue;
    for (const name of packagesIn(path, fixed, compiled)) packages.add(name);
  }
  files.set("README.md", readFileSync(join(ROOT, "tools", "package", "sdk", "README.md")));
  files.set("LICENSE", readFileSync(join(ROOT, "LICENSE")));
  files.set("package.json", jsonFile(sdkManifest([...packages].toSorted())));
  return files;
}

/** The compiler complains that the names of modules stay as they are; `fixModuleTexts` changes them. */
const NAMES_STAY = "error TS5096";

/** What the compiler makes of the entries and of everything they import, by path. */
async function compile(): Promise<Map<string, string>> {
  // The compiler finds the types of Node from the folder of its settings.
  const settings = join(ROOT, `tsconfig.sdk-${process.pid}.json`);
  const out = mkdtempSync(join(tmpdir(), "cairn-sdk-"));
  writeFileSync(
    settings,
    JSON.stringify({
      extends: "./tsconfig.json",
      compilerOptions: { noEmit: false, declaration: true, rootDir: ".", outDir: out },
      files: ENTRIES.map((entry) => `${SDK}/${entry}`),
      include: [],
    }),
  );
  try {
    const { output } = await runCommand(["tsc", "-p", settings], { show: false });
    const errors = output.split("\n").filter((line) => line.trim() !== "" && !line.includes(NAMES_STAY));
    if (errors.length > 0) throw new Error(`cannot compile the SDK:\n${errors.join("\n")}`);
    const paths = globSync("**/*.{js,d.ts,json}", { cwd: out }).map((path) => path.replaceAll("\\", "/"));
    return new Map(paths.toSorted().map((path) => [path, readFileSync(join(out, path), "utf8")]));
  } finally {
    rmSync(settings, { force: true });
    rmSync(out, { recursive: true });
  }
}

/** Modules of ours are named by their compiled file, relative to the one that names them. */
function fixModuleTexts(from: string, text: string, compiled: ReadonlyMap<string, string>): string {
  return text.replaceAll(MODULE_TEXT, (all, quote: string, path: string) => {
    const target = `${posix.normalize(inTree(from, path))}.js`;
    if (!compiled.has(target)) return all;
    const relative = posix.relative(posix.dirname(from), target);
    return `${quote}${relative.startsWith(".") ? "" : "./"}${relative}${quote}`;
  });
}

function inTree(from: string, path: string): string {
  const found = ALIASES.find(({ alias }) => path.startsWith(alias));
  if (found === undefined) return posix.join(posix.dirname(from), path);
  return posix.join(found.folder, path.slice(found.alias.length));
}

function constantVersion(): string {
  return `export const VERSION = ${JSON.stringify(packageJson.version)};\n`;
}

/** Packages that the file imports. Throws for a module of ours that is not there. */
function packagesIn(path: string, text: string, compiled: ReadonlyMap<string, string>): string[] {
  const names: string[] = [];
  for (const { specifier } of findReferences(path, text)) {
    if (specifier.startsWith(".")) {
      const target = posix.join(posix.dirname(path), specifier);
      if (!compiled.has(target))
        throw new Error(`cannot package ${path}: it names ${specifier}, which is left out`);
    } else if (specifier.startsWith("#")) {
      throw new Error(`cannot package ${path}: it names ${specifier}`);
    } else if (!specifier.startsWith("node:")) names.push(packageName(specifier));
  }
  return names;
}
