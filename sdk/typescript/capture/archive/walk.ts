import { lstat, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, normalize, relative, sep } from "node:path";
import { parseIgnoreFile, type IgnoreFile } from "./ignore-rules.ts";
import { isSecretFile, isSecretFolder } from "../secrets/secret-files.ts";

export type Found =
  | { path: string; kind: "file"; sizeBytes: number; isExecutable: boolean }
  | { path: string; kind: "link"; target: string };

export interface LeftOut {
  path: string;
  why: string;
}

export interface WalkOptions {
  /** Paths that are skipped. */
  without: ReadonlySet<string>;
  /** Called for every entry; may throw to end the walk. */
  onFound(found: Found): void;
  onLeft(left: LeftOut): void;
  /** Called between folders; may throw to end the walk. */
  checkTime(): void;
}

const IGNORE_BYTES_MAX = 1 << 20;
const DEPTH_MAX = 100;
/** Neither code nor data of the user. */
const NEVER = new Set([".git", ".hg", ".svn", ".jj", ".cairn", "node_modules", ".venv", "__pycache__"]);

/** An ignore file above the top sees longer paths than the walk, one below it shorter ones. */
interface Rules {
  file: IgnoreFile;
  /** The prefix of an entry's path for this file. */
  prefix: string;
  /** How many of its first characters this file does not see. */
  skipped: number;
}

interface Folder {
  /** Relative to the top, "" for the top itself. */
  path: string;
  depth: number;
  /** From the outermost to the nearest. */
  rules: readonly Rules[];
}

/**
 * Every file and link below a folder that belongs into an archive, in an order that depends on the names alone. Paths
 * are relative, with "/". The folder's own `.cairnignore` decides, and those in folders below; without one, the
 * `.gitignore` files do, together with those of the repository around it.
 */
export async function walk(top: string, options: WalkOptions): Promise<void> {
  const realTop = await realpath(top);
  const device = (await stat(realTop)).dev;
  const own = await readIgnoreFile(join(realTop, ".cairnignore"));
  const ignoreName = own === undefined ? ".gitignore" : ".cairnignore";
  const outer = own === undefined ? await outerRules(realTop) : [];
  const waiting: Folder[] = [{ path: "", depth: 0, rules: outer }];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    options.checkTime();
    const inner = await visit(realTop, device, folder, ignoreName, options);
    waiting.push(...inner.reverse());
  }
}

/** Reports the entries of a folder, and returns its subfolders to visit. */
async function visit(
  top: string,
  device: number,
  folder: Folder,
  ignoreName: string,
  options: WalkOptions,
): Promise<Folder[]> {
  const inner: Folder[] = [];
  const names = await readdir(join(top, folder.path)).catch((thrown: unknown) => {
    // Without the top itself there is nothing to archive.
    if (folder.path === "") throw thrown;
    return undefined;
  });
  if (names === undefined) {
    options.onLeft({ path: folder.path, why: "it cannot be read" });
    return inner;
  }
  const rules = [...folder.rules];
  if (names.includes(ignoreName)) {
    const file = await readIgnoreFile(join(top, folder.path, ignoreName));
    if (file !== undefined)
      rules.push({ file, prefix: "", skipped: folder.path === "" ? 0 : folder.path.length + 1 });
  }
  for (const name of names.sort(byCode)) {
    const path = folder.path === "" ? name : `${folder.path}/${name}`;
    const full = join(top, path);
    if (NEVER.has(name) || options.without.has(full)) continue;
    const facts = await lstat(full).catch(() => undefined);
    if (facts === undefined) {
      options.onLeft({ path, why: "it no longer exists, or its name is not UTF-8" });
      continue;
    }
    const isFolder = facts.isDirectory();
    if (isIgnored(path, isFolder, rules)) continue;
    if (isFolder ? isSecretFolder(path) : isSecretFile(name)) {
      options.onLeft({ path, why: "it may hold secrets" });
    } else if (facts.isSymbolicLink()) {
      const target = await innerTarget(top, path);
      if (target === undefined) options.onLeft({ path, why: "it is a link to a target outside" });
      else options.onFound({ path, kind: "link", target });
    } else if (isFolder) {
      if (facts.dev !== device) options.onLeft({ path, why: "it is another file system" });
      else if (folder.depth + 1 > DEPTH_MAX) options.onLeft({ path, why: "it is too deep" });
      else inner.push({ path, depth: folder.depth + 1, rules });
    } else if (facts.isFile()) {
      options.onFound({
        path,
        kind: "file",
        sizeBytes: facts.size,
        isExecutable: (facts.mode & 0o100) !== 0,
      });
    } else {
      options.onLeft({ path, why: "it is neither a file nor a folder" });
    }
  }
  return inner;
}

function isIgnored(path: string, isFolder: boolean, rules: readonly Rules[]): boolean {
  for (const { file, prefix, skipped } of rules.toReversed()) {
    const verdict = file.judge(prefix + path.slice(skipped), isFolder);
    if (verdict !== undefined) return verdict === "ignored";
  }
  return false;
}

/**
 * The target of a link, if that is inside, now and when the archive is unpacked elsewhere: so it is relative, and
 * neither its text nor its resolved path leaves the top.
 */
async function innerTarget(top: string, path: string): Promise<string | undefined> {
  const target = await readlink(join(top, path)).catch(() => "/");
  if (target === "" || target.startsWith("/") || target.includes("\\")) return undefined;
  const text = normalize(join(dirname(path), target));
  if (isOutside(text)) return undefined;
  try {
    return isOutside(relative(top, await realpath(join(top, path)))) ? undefined : target;
  } catch (thrown) {
    // Its target does not exist yet, and would be inside.
    return (thrown as NodeJS.ErrnoException).code === "ENOENT" ? target : undefined;
  }
}

function isOutside(way: string): boolean {
  return way === ".." || way.startsWith(`..${sep}`) || way.startsWith("/");
}

/** The folder with the repository that a folder is in, by looking upwards. */
export async function findRepository(dir: string): Promise<string | undefined> {
  for (let at = dir; ; at = dirname(at)) {
    if ((await stat(join(at, ".git")).catch(() => undefined)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** The rules of the repository that a folder is in: its own exclude file, then those of the folders down to it. */
async function outerRules(top: string): Promise<Rules[]> {
  const repository = await findRepository(top);
  if (repository === undefined) return [];
  const folders: string[] = [];
  for (let at = top; at !== repository; at = dirname(at)) folders.unshift(dirname(at));
  return readOuterRules(top, repository, folders);
}

async function readOuterRules(top: string, repository: string, folders: readonly string[]): Promise<Rules[]> {
  const sources = [
    { folder: repository, name: ".git/info/exclude" },
    ...folders.map((folder) => ({ folder, name: ".gitignore" })),
  ];
  const rules: Rules[] = [];
  for (const { folder, name } of sources) {
    const file = await readIgnoreFile(join(folder, name));
    const way = relative(folder, top).replaceAll(sep, "/");
    if (file !== undefined) rules.push({ file, prefix: way === "" ? "" : `${way}/`, skipped: 0 });
  }
  return rules;
}

async function readIgnoreFile(path: string): Promise<IgnoreFile | undefined> {
  try {
    const facts = await lstat(path);
    // Git follows no links here either.
    if (!facts.isFile() || facts.size > IGNORE_BYTES_MAX) return undefined;
    return parseIgnoreFile(await readFile(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** The same on every machine. */
function byCode(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
