/**
 * A file of checked records, written beside its old version and renamed to it when it is complete.
 * docs/formats/run-index.md
 */
import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { open, rename, rm, statfs, type FileHandle } from "node:fs/promises";
import { dirname } from "node:path";
import type { RunMark } from "#core/ports/run-changes.ts";
import { packRecord, unpackRecord, type Column, type ColumnKind, type RecordSource } from "./record.ts";

const MAGIC = Buffer.from("CairnIdx");
const VERSION = 4;
const FILE_HEAD_BYTES = MAGIC.length + 4;
/** The size of the write buffer. */
const WRITE_BYTES = 1 << 20;
/** Disk space that a snapshot leaves for the store, which is more important. */
const FREE_BYTES_MIN = 1 << 30;

interface Head {
  mark: RunMark;
}

interface End {
  records: number;
}

/** Replaces the file. Other work runs between two records. Throws, and keeps the old file, when it cannot. */
export async function writeSnapshot(file: string, mark: RunMark, records: Iterable<unknown>): Promise<void> {
  const temporary = `${file}.new`;
  const handle = await open(temporary, "w", 0o600);
  try {
    try {
      await writeRecords(handle, dirname(file), mark, records);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, file);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  const directory = await open(dirname(file), "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function writeRecords(
  handle: FileHandle,
  directory: string,
  mark: RunMark,
  records: Iterable<unknown>,
): Promise<void> {
  const version = Buffer.alloc(4);
  version.writeUInt32LE(VERSION);
  let gathered: Uint8Array[] = [MAGIC, version];
  let bytes = FILE_HEAD_BYTES;
  const flush = async () => {
    const { bavail, bsize } = await statfs(directory);
    if (bavail * bsize < FREE_BYTES_MIN + bytes) throw new Error("there is too little space for a snapshot");
    await handle.writev(gathered);
    gathered = [];
    bytes = 0;
  };
  const add = (record: unknown) => {
    const packed = packRecord(record);
    gathered.push(packed);
    bytes += packed.length;
  };
  add({ mark } satisfies Head);
  let count = 0;
  for (const record of records) {
    add(record);
    count++;
    if (bytes >= WRITE_BYTES) await flush();
  }
  add({ records: count } satisfies End);
  await flush();
}

/**
 * Reads a file that `writeSnapshot` made. `restore` gets the records, reads all of them and returns its result. undefined when there is no file, or one that is damaged or of another version.
 */
export function readSnapshot<T>(
  file: string,
  restore: (next: () => unknown) => T,
): { mark: RunMark; restored: T } | undefined {
  try {
    const reader = new SnapshotReader(file);
    try {
      const { mark } = reader.next() as Head;
      let count = 0;
      const restored = restore(() => {
        count++;
        return reader.next();
      });
      const end = reader.next() as Partial<End>;
      return end.records === count && reader.isAtEnd ? { mark, restored } : undefined;
    } finally {
      reader.close();
    }
  } catch {
    // The store is authoritative, and everything can be rebuilt from it.
    return undefined;
  }
}

class SnapshotReader implements RecordSource {
  readonly #fd: number;
  #left: number;

  constructor(file: string) {
    this.#fd = openSync(file, "r");
    this.#left = fstatSync(this.#fd).size;
    const head = this.read(FILE_HEAD_BYTES);
    if (!head.subarray(0, MAGIC.length).equals(MAGIC) || head.readUInt32LE(MAGIC.length) !== VERSION) {
      this.close();
      throw new Error("it is of another version");
    }
  }

  get isAtEnd(): boolean {
    return this.#left === 0;
  }

  next(): unknown {
    return unpackRecord(this);
  }

  close(): void {
    closeSync(this.#fd);
  }

  read(size: number): Buffer {
    this.#take(size);
    return this.#fill(Buffer.allocUnsafe(size));
  }

  readColumn(kind: ColumnKind, length: number): Column {
    this.#take(length * kind.BYTES_PER_ELEMENT);
    return this.#fill(new kind(length));
  }

  #take(size: number): void {
    if (size > this.#left) throw new Error("it is cut off");
    this.#left -= size;
  }

  #fill<V extends NodeJS.ArrayBufferView>(into: V): V {
    for (let at = 0; at < into.byteLength;) {
      const read = readSync(this.#fd, into, at, into.byteLength - at, null);
      if (read === 0) throw new Error("it is cut off");
      at += read;
    }
    return into;
  }
}
