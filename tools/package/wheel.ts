/**
 * Writes Python wheels without Python: a ZIP archive of the package with a folder `NAME-VERSION.dist-info`, which has
 * the metadata, the entry points, the licence and a list of all files with their SHA-256. The same content gives the
 * same bytes, so that a wheel changes only when its sources do.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { zip, type ZipEntry } from "./zip.ts";

/** What METADATA says, in the words of `[project]` in pyproject.toml. */
export interface WheelMetadata {
  /** As published: `cairn-tracker`. */
  name: string;
  version: string;
  summary: string;
  /** An SPDX expression. */
  license: string;
  requiresPython: string;
  keywords?: readonly string[];
  classifiers?: readonly string[];
  dependencies?: readonly string[];
  /** Dependencies of each extra. */
  extras?: Readonly<Record<string, readonly string[]>>;
  urls?: Readonly<Record<string, string>>;
  /** Markdown. */
  readme: string;
}

export interface Wheel {
  metadata: WheelMetadata;
  /** By path in the wheel: bytes, or a file on disk. */
  files: ReadonlyMap<string, Uint8Array | { file: string }>;
  /** By path below `licenses/`. */
  licenses: ReadonlyMap<string, Uint8Array | { file: string }>;
  /** By group: `console_scripts` has the commands. */
  entryPoints?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** The folder that gets the wheel. */
  folder: string;
}

/** How file names and `dist-info` spell the name of a package. */
function wheelName(metadata: Pick<WheelMetadata, "name" | "version">): string {
  return `${fileName(metadata)}-py3-none-any.whl`;
}

/** Writes the wheel and returns its path. A reader sees the whole file or none. */
export async function writeWheel(wheel: Wheel): Promise<string> {
  const bytes = zip(await entriesOf(wheel));
  await mkdir(wheel.folder, { recursive: true });
  const path = join(wheel.folder, wheelName(wheel.metadata));
  const beside = `${path}.${process.pid}.part`;
  try {
    await writeFile(beside, bytes);
    await rename(beside, path);
  } catch (thrown) {
    await rm(beside, { force: true });
    throw thrown;
  }
  return path;
}

async function entriesOf({ metadata, files, licenses, entryPoints = {} }: Wheel): Promise<ZipEntry[]> {
  const info = `${fileName(metadata)}.dist-info`;
  const entries: ZipEntry[] = [];
  for (const [path, source] of inOrder(files)) entries.push({ path, content: await read(source) });
  for (const [path, source] of inOrder(licenses)) {
    entries.push({ path: `${info}/licenses/${path}`, content: await read(source) });
  }
  const add = (name: string, text: string) =>
    entries.push({ path: `${info}/${name}`, content: Buffer.from(text) });
  add("METADATA", metadataText(metadata, [...licenses.keys()].toSorted()));
  add("WHEEL", "Wheel-Version: 1.0\nGenerator: cairn\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
  if (Object.keys(entryPoints).length > 0) add("entry_points.txt", entryPointsText(entryPoints));
  add("top_level.txt", topLevelText([...files.keys()]));
  // Last, so that a reader of the archive's end finds it.
  add("RECORD", recordText(entries, `${info}/RECORD`));
  return entries;
}

function fileName({ name, version }: Pick<WheelMetadata, "name" | "version">): string {
  return `${name.replaceAll(/[-_.]+/g, "_").toLowerCase()}-${version}`;
}

function inOrder<T>(files: ReadonlyMap<string, T>): [string, T][] {
  return [...files].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

async function read(source: Uint8Array | { file: string }): Promise<Uint8Array> {
  return "file" in source ? readFile(source.file) : source;
}

function metadataText(metadata: WheelMetadata, licenses: readonly string[]): string {
  const { name, version, summary, license, requiresPython, readme } = metadata;
  const { keywords = [], classifiers = [], dependencies = [], extras = {}, urls = {} } = metadata;
  const lines = [
    "Metadata-Version: 2.4",
    `Name: ${name}`,
    `Version: ${version}`,
    `Summary: ${summary}`,
    `License-Expression: ${license}`,
    ...Object.entries(urls).map(([label, url]) => `Project-URL: ${label}, ${url}`),
    ...(keywords.length > 0 ? [`Keywords: ${keywords.join(",")}`] : []),
    ...classifiers.map((classifier) => `Classifier: ${classifier}`),
    `Requires-Python: ${requiresPython}`,
    "Description-Content-Type: text/markdown",
    ...licenses.map((path) => `License-File: ${path}`),
    ...dependencies.map((dependency) => `Requires-Dist: ${dependency}`),
  ];
  for (const [extra, needs] of Object.entries(extras)) {
    lines.push(`Provides-Extra: ${extra}`);
    for (const need of needs) lines.push(`Requires-Dist: ${need}; extra == "${extra}"`);
  }
  for (const line of lines) {
    if (/[\r\n]/.test(line)) throw new Error(`cannot write metadata "${line}": it has a line break`);
  }
  return `${lines.join("\n")}\n\n${readme}`;
}

function entryPointsText(groups: NonNullable<Wheel["entryPoints"]>): string {
  const parts = Object.entries(groups).map(([group, points]) => {
    const lines = Object.entries(points).map(([name, target]) => `${name} = ${target}\n`);
    return `[${group}]\n${lines.join("")}`;
  });
  return parts.join("\n");
}

/** The modules that are imported by their own name. Only old installers read it. */
function topLevelText(paths: readonly string[]): string {
  const names = new Set(paths.map((path) => path.split("/")[0]!.replace(/\.py$/, "")));
  return [...names]
    .toSorted()
    .map((name) => `${name}\n`)
    .join("");
}

function recordText(entries: readonly ZipEntry[], own: string): string {
  const lines = entries.map(({ path, content }) => {
    const digest = createHash("sha256").update(content).digest("base64url");
    return `${csv(path)},sha256=${digest},${content.length}\n`;
  });
  return `${lines.join("")}${own},,\n`;
}

function csv(path: string): string {
  return /[",]/.test(path) ? `"${path.replaceAll('"', '""')}"` : path;
}
