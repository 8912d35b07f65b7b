/**
 * Where a downloaded artifact may be written. Names come from other users and servers may be hostile, so everything is
 * checked here again: a valid name is a relative path that stays below the folder, on any system, and no two artifacts
 * of one download have the same file, also on file systems that ignore case.
 */
import { lstat, mkdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { limits } from "#lang/limits.ts";
import { cut, printable } from "../output/text.ts";

/** What is wrong with a target, as a sentence that names the artifact. */
export class UnsafeTarget extends Error {
  constructor(name: string, cause: string) {
    super(`cannot write artifact "${printable(cut(name, SHOWN_MAX))}": ${cause}`);
    this.name = "UnsafeTarget";
  }
}

const SHOWN_MAX = 200;
const PART_BYTES_MAX = 255;
// Separators of lines and paragraphs break lines as control characters do; the bidirectional ones make a name look like
// another one.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/u;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?:\.|$)/i;

/** The relative path for a name. Throws UnsafeTarget. */
export function targetPath(name: string, platform: NodeJS.Platform = process.platform): string {
  const refuse = (cause: string) => new UnsafeTarget(name, cause);
  if (name === "") throw refuse("its name is empty");
  if (!name.isWellFormed()) throw refuse("its name is not well-formed Unicode");
  if (Buffer.byteLength(name) > limits.artifactNameBytesMax)
    throw refuse(`its name is over ${limits.artifactNameBytesMax} bytes`);
  if (UNPRINTABLE.test(name)) throw refuse("its name holds a control character");
  if (name.includes("\\")) throw refuse("its name holds a backslash");
  if (name.startsWith("/")) throw refuse("its name is an absolute path");
  if (/^[A-Za-z]:/.test(name)) throw refuse("its name begins with a drive letter");
  const parts = name.split("/");
  for (const part of parts) {
    if (part === "") throw refuse("its name has an empty part");
    if (part === "." || part === "..") throw refuse(`its name has a part "${part}"`);
    if (Buffer.byteLength(part) > PART_BYTES_MAX)
      throw refuse(`a part of its name is over ${PART_BYTES_MAX} bytes`);
    if (platform !== "win32") continue;
    if (/[<>:"|?*]/.test(part) || /[ .]$/.test(part) || WINDOWS_DEVICE.test(part))
      throw refuse("Windows cannot keep that name");
  }
  return parts.join(platform === "win32" ? "\\" : "/");
}

/** Hands out targets below one folder, none twice. */
export class Targets {
  /** Files and the folders above them, by what the strictest system makes of their names. */
  readonly #files = new Map<string, string>();
  readonly #folders = new Map<string, string>();

  /** Throws UnsafeTarget for a name that could leave the folder or meets another one. */
  add(name: string): string {
    const path = targetPath(name);
    const folded = fold(name);
    const twin = this.#files.get(folded);
    if (twin === name) throw new UnsafeTarget(name, "another artifact already has that path");
    if (twin !== undefined)
      throw new UnsafeTarget(name, `"${printable(twin)}" differs from it only in capitals or accents`);
    const inside = this.#folders.get(folded);
    if (inside !== undefined)
      throw new UnsafeTarget(name, `there must be a folder of that name for "${printable(inside)}"`);
    const parents = [...ancestors(folded)];
    for (const parent of parents) {
      const file = this.#files.get(parent);
      if (file !== undefined) throw new UnsafeTarget(name, `"${printable(file)}" is a file, not a folder`);
    }
    this.#files.set(folded, name);
    for (const parent of parents) if (!this.#folders.has(parent)) this.#folders.set(parent, name);
    return path;
  }
}

/** Two names are one file somewhere when these are equal. */
function fold(name: string): string {
  return name.normalize("NFKC").toUpperCase().toLowerCase().normalize("NFKC");
}

function* ancestors(name: string): Generator<string> {
  for (let end = name.lastIndexOf("/"); end > 0; end = name.lastIndexOf("/", end - 1))
    yield name.slice(0, end);
}

/**
 * Makes the folders above `path` and returns where it is. What is there already must be real folders: a link
 * could lead anywhere. The root was named by the person and may be one. Throws UnsafeTarget.
 */
export async function makeRoom(root: string, path: string, name: string): Promise<string> {
  await mkdir(root, { recursive: true });
  const parts = path.split(sep);
  let folder = root;
  for (const part of parts.slice(0, -1)) {
    folder = join(folder, part);
    await mkdir(folder).catch((thrown: NodeJS.ErrnoException) => {
      if (thrown.code !== "EEXIST") throw thrown;
    });
    const found = await lstat(folder);
    if (found.isSymbolicLink()) throw new UnsafeTarget(name, `"${folder}" is a symbolic link`);
    if (!found.isDirectory()) throw new UnsafeTarget(name, `"${folder}" is not a folder`);
  }
  const file = join(folder, parts.at(-1)!);
  await requirePlain(file, name);
  return file;
}

/** Nothing is there, or a plain file. Throws UnsafeTarget. */
export async function requirePlain(file: string, name: string): Promise<void> {
  const found = await lstat(file).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw thrown;
  });
  if (found === undefined || found.isFile()) return;
  const what = found.isSymbolicLink()
    ? "a symbolic link"
    : found.isDirectory()
      ? "a folder"
      : "not a plain file";
  throw new UnsafeTarget(name, `"${file}" is ${what}`);
}
