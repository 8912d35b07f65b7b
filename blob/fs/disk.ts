import { randomUUID } from "node:crypto";
import { constants, type Dirent, type Stats } from "node:fs";
import { copyFile, link, lstat, mkdir, open, opendir, realpath, rename, unlink } from "node:fs/promises";
import { dirname } from "node:path";

/**
 * What the blob store asks of a file system, so that a test can make any single call fail. Errors are
 * those of Node, with a `code`. Only `resolve` and `list` follow a symbolic link at the end of a path.
 */
export interface Disk {
  /** Creates the directory at an absolute path and its parents, durably. Existing ones are not an error. */
  makeRoot(path: string): Promise<void>;
  /** Creates one directory; an existing one is not an error. */
  makeDirectory(path: string): Promise<void>;
  /** The path with every symbolic link in it followed. */
  resolve(path: string): Promise<string>;
  /** Creates a file for writing; an existing one is an error. */
  create(path: string): Promise<WritableFile>;
  /** Opens a file to write from `offset` on, and creates it where there is none. */
  openForAppending(path: string, offset: number): Promise<AppendableFile>;
  openForReading(path: string): Promise<ReadableFile>;
  /** Replaces what is at `to` in one step. */
  rename(from: string, to: string): Promise<void>;
  /** A second name for a file. Where the file system cannot do that, a synced copy of it. */
  link(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  /** undefined when nothing is there. */
  find(path: string): Promise<Entry | undefined>;
  /** What is in a directory, in no order. */
  list(path: string): AsyncIterable<{ name: string; kind: Entry["kind"] }>;
  /** Makes creations, renames and removals in a directory durable. */
  syncDirectory(path: string): Promise<void>;
}

export interface Entry {
  kind: "file" | "directory" | "other";
  sizeBytes: number;
  /** When it was last written. */
  modifiedMs: number;
}

export interface WritableFile {
  /** Writes some of the bytes behind those before and says how many. */
  write(bytes: Uint8Array): Promise<number>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

export interface AppendableFile extends WritableFile {
  stat(): Promise<Entry>;
  /** Cuts the end off. */
  truncate(sizeBytes: number): Promise<void>;
}

export interface ReadableFile {
  stat(): Promise<Entry>;
  /** Reads into the whole of `target` where it can; 0 at the end of the file. */
  read(target: Uint8Array, position: number): Promise<number>;
  close(): Promise<void>;
}

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;
const OWNER_ONLY_DIRECTORY = 0o700;
const OWNER_ONLY_FILE = 0o600;

export const nodeDisk: Disk = {
  async makeRoot(path) {
    const first = (await mkdir(path, { recursive: true, mode: OWNER_ONLY_DIRECTORY })) ?? path;
    for (let made = path; made !== dirname(made); made = dirname(made)) {
      // The directories above ours may be reached through links: those are the owner's own.
      await syncDirectory(await realpath(dirname(made)));
      if (made === first) return;
    }
  },

  async makeDirectory(path) {
    try {
      await mkdir(path, { mode: OWNER_ONLY_DIRECTORY });
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  },

  resolve: (path) => realpath(path),

  async create(path) {
    const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, OWNER_ONLY_FILE);
    return {
      write: async (bytes) => (await handle.write(bytes)).bytesWritten,
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },

  async openForAppending(path, offset) {
    const flags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK;
    const handle = await open(path, flags, OWNER_ONLY_FILE);
    let position = offset;
    return {
      stat: async () => entryFrom(await handle.stat()),
      write: async (bytes) => {
        const { bytesWritten } = await handle.write(bytes, 0, bytes.byteLength, position);
        position += bytesWritten;
        return bytesWritten;
      },
      truncate: (sizeBytes) => handle.truncate(sizeBytes),
      sync: () => handle.sync(),
      close: () => handle.close(),
    };
  },

  async openForReading(path) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    return {
      stat: async () => entryFrom(await handle.stat()),
      read: async (target, position) => (await handle.read(target, 0, target.byteLength, position)).bytesRead,
      close: () => handle.close(),
    };
  },

  rename: (from, to) => rename(from, to),

  async link(from, to) {
    try {
      await link(from, to);
    } catch (error) {
      if (!["EXDEV", "EPERM", "EMLINK", "ENOTSUP", "ENOSYS"].includes(errnoOf(error) ?? "")) throw error;
      // A copy that is cut off must not be taken for a whole one.
      const partial = `${to}.${randomUUID()}`;
      await copyFile(from, partial, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
      const copy = await open(partial, O_RDONLY | O_NOFOLLOW);
      try {
        await copy.sync();
      } finally {
        await copy.close();
      }
      await rename(partial, to);
    }
  },

  unlink: (path) => unlink(path),

  async find(path) {
    try {
      return entryFrom(await lstat(path));
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  },

  async *list(path) {
    for await (const entry of await opendir(path)) yield { name: entry.name, kind: kindOf(entry) };
  },

  syncDirectory,
};

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

function entryFrom(stats: Stats): Entry {
  return { kind: kindOf(stats), sizeBytes: stats.size, modifiedMs: stats.mtimeMs };
}

function kindOf(entry: Stats | Dirent): Entry["kind"] {
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "directory" : "other";
}

/** The code of a Node error, such as ENOENT; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}
