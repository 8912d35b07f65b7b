/**
 * Keeps the tail short: no source file over 400 lines, no function over 80, no folder over 30 files, no port over 12
 * methods. Run it with `node tools/tidy.ts`; each line it prints names a place, its figure, the limit and a hint.
 *
 * Source is what git tracks or would add, without documents and generated code. Functions are measured in
 * TypeScript, JavaScript and Python. A folder is measured when source lies directly in it; every file in
 * it counts but pictures.
 *
 * What is over a limit is listed in tools/tidy-exceptions.json with the figure it has. The list may only
 * shrink: a figure that fell must be lowered there, and an unneeded entry must be deleted.
 */
import { execFileSync } from "node:child_process";
import { lstatSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";

import { ROOT } from "./sources.ts";
import { measurePorts } from "./tidy/ports.ts";
import { measurePython } from "./tidy/python.ts";
import { type FunctionLength, measureTypeScript } from "./tidy/typescript.ts";

const EXCEPTIONS_FILE = "tools/tidy-exceptions.json";

const SOURCE = /\.(?:ts|tsx|js|py|c|css|sql|proto)$/;
const PICTURE = /\.(?:webp|png|jpe?g|gif|svg|ico)$/;
const GENERATED = /^proto\/gen\//;
const DOCUMENTS = /^docs\//;
const PORT = /^core\/ports\//;

const LIMITS = {
  file: { most: 400, unit: "lines", wayOut: "split it by subject" },
  function: { most: 80, unit: "lines", wayOut: "give a part of it a name and a function of its own" },
  folder: { most: 30, unit: "files", wayOut: "move files of one subject into a folder of their own" },
  port: { most: 12, unit: "methods", wayOut: "split it by subject, or make a part of it a capability" },
} as const;

export interface Measure {
  kind: keyof typeof LIMITS;
  /** As in the list of exceptions: `a/folder`, `a/file.ts`, `a/file.ts#aFunction`. */
  key: string;
  /** Where to look. */
  place: string;
  figure: number;
}

export interface SourceFile {
  path: string;
  text: string;
}

/** Of one file: its lines and those of its functions. */
export function measureFile({ path, text }: SourceFile): Measure[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const whole: Measure = { kind: "file", key: path, place: path, figure: lines };
  // Most files are too short to hold a function over the limit.
  if (lines <= LIMITS.function.most) return [whole];
  const functions = functionsOf(path, text).map(({ name, line, lines: figure }): Measure => ({
    kind: "function",
    key: `${path}#${name}`,
    place: `${path}:${line}: ${name}`,
    figure,
  }));
  return [whole, ...functions];
}

function functionsOf(path: string, text: string): FunctionLength[] {
  if (/\.(?:ts|tsx|js)$/.test(path)) return measureTypeScript(path, text);
  return path.endsWith(".py") ? measurePython(text) : [];
}

/** The files directly in each folder that has source. */
export function measureFolders(paths: readonly string[]): Measure[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    if (PICTURE.test(path)) continue;
    const folder = posix.dirname(path);
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  const withSource = new Set(paths.filter(isSource).map((path) => posix.dirname(path)));
  return [...withSource].map((folder) => ({
    kind: "folder",
    key: folder,
    place: folder,
    figure: counts.get(folder)!,
  }));
}

export function isSource(path: string): boolean {
  return SOURCE.test(path) && !GENERATED.test(path) && !DOCUMENTS.test(path);
}

/** One line for each measure over its limit, and for each exception that does not match its measure. */
export function findProblems(
  measures: readonly Measure[],
  exceptions: Readonly<Record<string, number>>,
): string[] {
  const over = new Map<string, Measure>();
  for (const measure of measures) {
    const known = over.get(measure.key)?.figure ?? LIMITS[measure.kind].most;
    if (measure.figure > known) over.set(measure.key, measure);
  }
  const problems: string[] = [];
  for (const { kind, key, place, figure } of over.values()) {
    const { most, unit, wayOut } = LIMITS[kind];
    const listed = exceptions[key];
    if (listed === undefined) {
      problems.push(`${place}: ${figure} ${unit}, but a ${kind} has at most ${most}: ${wayOut}`);
    } else if (figure > listed) {
      problems.push(`${place}: ${figure} ${unit}, but ${EXCEPTIONS_FILE} allows it ${listed}: ${wayOut}`);
    } else if (figure < listed) {
      problems.push(`${EXCEPTIONS_FILE}: "${key}" has ${figure} ${unit} now: write ${figure}, not ${listed}`);
    }
  }
  for (const key of Object.keys(exceptions)) {
    if (!over.has(key)) problems.push(`${EXCEPTIONS_FILE}: "${key}" is not over a limit: delete its entry`);
  }
  return problems;
}

/** The methods of each port, inherited ones too. */
export function measureAllPorts(files: readonly SourceFile[]): Measure[] {
  const ports = measurePorts(files.filter(({ path }) => PORT.test(path)));
  return ports.map(({ name, path, line, methods }) => ({
    kind: "port",
    key: `${path}#${name}`,
    place: `${path}:${line}: ${name}`,
    figure: methods,
  }));
}

/** Files that git tracks or would add, as they are on disk. */
function listFiles(): string[] {
  const options = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const paths = execFileSync("git", options, { cwd: ROOT, encoding: "utf8", maxBuffer: 64 << 20 });
  return paths
    .split("\0")
    .filter((path) => path !== "" && lstatSync(join(ROOT, path), { throwIfNoEntry: false })?.isFile());
}

function main(): void {
  const exceptions = JSON.parse(readFileSync(join(ROOT, EXCEPTIONS_FILE), "utf8")) as Record<string, number>;
  const paths = listFiles();
  const sources = paths.filter(isSource);
  const files = sources.map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
  const measures = [...files.flatMap(measureFile), ...measureFolders(paths), ...measureAllPorts(files)];
  const problems = findProblems(measures, exceptions);
  for (const problem of problems) console.log(problem);
  console.log(
    `${sources.length} files, ${Object.keys(exceptions).length} exceptions, ${problems.length} problems`,
  );
  if (problems.length > 0) process.exitCode = 1;
}

if (import.meta.main) main();
