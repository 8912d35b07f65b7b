import { randomBytes } from "node:crypto";
import { appendFile, link, mkdir, open, opendir, stat, unlink, type FileHandle } from "node:fs/promises";
import { dirname, join } from "node:path";
import { tooLarge, type FileEntry, type TrackerFileSystem } from "./tracker-file-system.ts";

/** A folder with more is refused rather than read into memory. */
const ENTRIES_MAX = 5_000_000;
/** Error codes of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EXDEV", "EMLINK"]);

/** The disk of this machine. */
export class LocalFileSystem implements TrackerFileSystem {
  async list(folder: string): Promise<readonly FileEntry[]> {
    const entries: FileEntry[] = [];
    try {
      for await (const entry of await opendir(folder)) {
        if (entries.length >= ENTRIES_MAX)
          throw new Error(`cannot list "${folder}": it holds more than ${ENTRIES_MAX} files`);
        const what = entry.isSymbolicLink()
          ? await stat(join(folder, entry.name)).catch(() => undefined)
          : entry;
        const kind = what?.isFile() === true ? "file" : what?.isDirectory() === true ? "directory" : "other";
        entries.push({ name: entry.name, kind });
      }
    } catch (thrown) {
      if (codeOf(thrown) !== "ENOENT") throw thrown;
    }
    return entries;
  }

  async exists(path: string): Promise<boolean> {
    try {
      await stat(path);
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === "ENOENT" || codeOf(thrown) === "ENOTDIR") return false;
      throw thrown;
    }
  }

  async read(path: string, sizeBytesMax: number): Promise<Uint8Array> {
    // Opening a pipe would wait for a writer that may never come.
    if (!(await stat(path)).isFile()) throw new Error(`cannot read "${path}": it is not a file`);
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      if (size > sizeBytesMax) throw tooLarge(path, sizeBytesMax);
      return await readWhole(file, path, size, sizeBytesMax);
    } finally {
      await file.close();
    }
  }

  async create(path: string, content: string): Promise<boolean> {
    // TorchX reads every file of a folder as an entry and always fails on a partial one. So it is written outside,
    // one folder up, where no reader looks, and then given its name, which fails when the name is taken.
    const draft = join(dirname(dirname(path)), `.cairn-${randomBytes(12).toString("hex")}`);
    await writeNew(draft, content);
    try {
      await link(draft, path);
      return true;
    } catch (thrown) {
      if (codeOf(thrown) === "EEXIST") return false;
      if (!NO_LINKS.has(codeOf(thrown) ?? "")) throw thrown;
      return await createInPlace(path, content);
    } finally {
      await unlink(draft).catch(() => {});
    }
  }

  async append(path: string, content: string): Promise<void> {
    await appendFile(path, content, { flush: true });
  }

  async makeDirs(folder: string): Promise<void> {
    await mkdir(folder, { recursive: true });
  }
}

async function createInPlace(path: string, content: string): Promise<boolean> {
  try {
    await writeNew(path, content);
    return true;
  } catch (thrown) {
    if (codeOf(thrown) === "EEXIST") return false;
    throw thrown;
  }
}

async function writeNew(path: string, content: string): Promise<void> {
  const file = await open(path, "wx");
  try {
    await file.writeFile(content);
    await file.datasync();
  } catch (thrown) {
    await unlink(path).catch(() => {});
    throw thrown;
  } finally {
    await file.close();
  }
}

/** Also of a file without a size, as those of /proc, or that grows meanwhile. */
async function readWhole(
  file: FileHandle,
  path: string,
  size: number,
  sizeBytesMax: number,
): Promise<Uint8Array> {
  let bytes = Buffer.alloc(Math.min(size + 1, sizeBytesMax + 1));
  for (let used = 0; ;) {
    const { bytesRead } = await file.read(bytes, used, bytes.length - used);
    if (bytesRead === 0) return bytes.subarray(0, used);
    used += bytesRead;
    if (used > sizeBytesMax) throw tooLarge(path, sizeBytesMax);
    if (used === bytes.length) {
      bytes = Buffer.concat([bytes], Math.min(bytes.length * 2, sizeBytesMax + 1));
    }
  }
}

function codeOf(thrown: unknown): string | undefined {
  return (thrown as NodeJS.ErrnoException).code;
}
