import { constants, createWriteStream } from "node:fs";
import { open, realpath, rename, rm, stat, type FileHandle } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { pack, type Pack } from "tar-stream";
import { formatBytes } from "#lang/words/numbers.ts";
import { knownSecretRedactor } from "../secrets/known-secrets.ts";
import { redactFile } from "../patch.ts";
import { RULES } from "../secrets/secret-rules.ts";
import { walk, type Found, type LeftOut } from "./walk.ts";

export interface ArchiveOptions {
  /** Of all files together, before they are compressed. */
  sizeBytesMax?: number;
  filesMax?: number;
  timeoutMs?: number;
  signal?: AbortSignal;
  /** Values of its secret variables are redacted; without it those of this process. */
  env?: Readonly<Record<string, string | undefined>>;
}

export interface Archive {
  /** Where it is; absent when there is none, and then `note` says why. */
  path?: string;
  /** Of the archive. */
  sizeBytes: number;
  /** How many files and links are in it. */
  files: number;
  /** The first of the files that are left out although nothing ignores them. */
  left: LeftOut[];
  leftCount: number;
  note?: string;
}

const ARCHIVE_BYTES_MAX = 64 << 20;
const FILES_MAX = 10_000;
const TIMEOUT_MS = 10_000;
const LEFT_MAX = 100;
const LARGEST_SHOWN = 5;
const READ_BYTES = 256 << 10;
/** A log file may grow a little between two reads; more could exceed the limit on all files. */
const GROWTH_BYTES_MAX = 256 << 10;
const EPOCH = new Date(0);
/** Measured on this repository: four times as fast as the default, and a quarter larger. */
const GZIP_LEVEL = 1;

/** Ends the archive with a note; other errors become a note, too. */
class NoArchive extends Error {}

/**
 * Writes a working directory to `target` as a .tar.gz, or returns why not. Never throws. A previous `target` stays until the
 * archive is complete.
 *
 * Owners and times are not kept, so that the same files make the same bytes: the server keeps content once, however
 * many runs of a sweep send it.
 */
export async function archiveWorkdir(
  dir: string,
  target: string,
  options: ArchiveOptions = {},
): Promise<Archive> {
  const { timeoutMs = TIMEOUT_MS, signal, env = process.env } = options;
  const left: LeftOut[] = [];
  let leftCount = 0;
  const onLeft = (one: LeftOut) => {
    leftCount++;
    if (left.length < LEFT_MAX) left.push(one);
  };
  const temporary = `${target}.${process.pid}.part`;
  const deadlineMs = performance.now() + timeoutMs;
  const checkTime = () => {
    if (signal?.aborted === true) throw new NoArchive("the archive was canceled");
    if (performance.now() > deadlineMs)
      throw new NoArchive(`the archive took longer than ${timeoutMs / 1000} s`);
  };
  try {
    const folder = await realpath(dirname(target));
    const own = new Set([target, temporary].map((path) => join(folder, basename(path))));
    const found = await survey(dir, own, options, onLeft, checkTime);
    const files = await write(dir, found, temporary, {
      redactKnown: knownSecretRedactor(env),
      onLeft,
      checkTime,
    });
    await rename(temporary, target);
    return { path: target, sizeBytes: (await stat(target)).size, files, left, leftCount };
  } catch (thrown) {
    await rm(temporary, { force: true }).catch(() => {});
    const cause = thrown instanceof Error ? thrown.message : String(thrown);
    const note = thrown instanceof NoArchive ? cause : `cannot archive "${dir}": ${cause}`;
    return { sizeBytes: 0, files: 0, left, leftCount, note };
  }
}

/** Lists everything before a byte is read, so that a directory that is too large costs little. */
async function survey(
  dir: string,
  without: ReadonlySet<string>,
  { sizeBytesMax = ARCHIVE_BYTES_MAX, filesMax = FILES_MAX }: ArchiveOptions,
  onLeft: (left: LeftOut) => void,
  checkTime: () => void,
): Promise<Found[]> {
  const found: Found[] = [];
  let sizeBytes = 0;
  await walk(dir, {
    without,
    onLeft,
    checkTime,
    onFound(one) {
      found.push(one);
      if (one.kind === "file") sizeBytes += one.sizeBytes;
      if (found.length > filesMax) {
        throw new NoArchive(
          `"${dir}" has more than ${filesMax} files, most of those seen in ${crowded(found)}; list what is not code in .cairnignore`,
        );
      }
    },
  });
  if (sizeBytes > sizeBytesMax) {
    throw new NoArchive(
      `"${dir}" has ${formatBytes(sizeBytes)} in ${found.length} files, more than ${formatBytes(sizeBytesMax)}; the largest are ${largest(found)}; list what is not code in .cairnignore`,
    );
  }
  return found;
}

interface Writing {
  redactKnown(text: string): string;
  onLeft(left: LeftOut): void;
  checkTime(): void;
}

async function write(dir: string, found: readonly Found[], path: string, writing: Writing): Promise<number> {
  const tar = pack();
  const stopped = new AbortController();
  const file = createWriteStream(path, { mode: 0o600 });
  const written = pipeline(tar, createGzip({ level: GZIP_LEVEL }), file, { signal: stopped.signal });
  // It is awaited below; until then a failure must not count as unhandled.
  written.catch(() => {});
  let files = 0;
  try {
    for (const one of found) {
      writing.checkTime();
      const isAdded = one.kind === "link" ? addLink(tar, one) : addFile(tar, dir, one, writing);
      // On a full disk nothing reads what is added, and this would wait forever.
      if ((await Promise.race([isAdded, written])) === true) files++;
    }
    tar.finalize();
    await written;
    return files;
  } catch (thrown) {
    stopped.abort();
    await written.catch(() => {});
    throw thrown;
  }
}

async function addLink(tar: Pack, { path, target }: Found & { kind: "link" }): Promise<true> {
  await new Promise<void>((done, fail) => {
    const header = { name: path, type: "symlink", linkname: target, mode: 0o777, mtime: EPOCH } as const;
    tar.entry(header, (error) => (error ? fail(error) : done()));
  });
  return true;
}

/** A file may change while it is read: it is cut or padded to the size in the header. */
async function addFile(
  tar: Pack,
  dir: string,
  { path, sizeBytes, isExecutable }: Found & { kind: "file" },
  { redactKnown, onLeft, checkTime }: Writing,
): Promise<boolean> {
  // It was a file when it was listed, and may be a link or a pipe by now.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(resolve(dir, path), flags).catch(() => undefined);
  if (handle === undefined) {
    onLeft({ path, why: "it cannot be read" });
    return false;
  }
  try {
    const facts = await handle.stat();
    if (!facts.isFile() || facts.size > sizeBytes + GROWTH_BYTES_MAX) {
      onLeft({ path, why: "it changed while it was read" });
      return false;
    }
    const pieces = piecesOf(handle, facts.size, checkTime, () =>
      onLeft({ path, why: "it shrank while it was read; zeros follow" }),
    );
    const header = { name: path, mode: isExecutable ? 0o755 : 0o644, mtime: EPOCH };
    if (facts.size > RULES.files.textBytesMax) {
      await pipeline(pieces, tar.entry({ ...header, size: facts.size }));
      return true;
    }
    const whole = Buffer.concat(await Array.fromAsync(pieces));
    // A file with a zero byte is not text.
    const content = whole.includes(0) ? whole : redactFile(whole, path, redactKnown);
    if (content !== whole) onLeft({ path, why: "credentials in it are redacted" });
    await pipeline([content], tar.entry({ ...header, size: content.length }));
    return true;
  } finally {
    await handle.close();
  }
}

/** Exactly `sizeBytes`, independent of the size of the file now. */
async function* piecesOf(
  handle: FileHandle,
  sizeBytes: number,
  checkTime: () => void,
  onShort: () => void,
): AsyncGenerator<Buffer> {
  let isShort = false;
  for (let at = 0; at < sizeBytes;) {
    checkTime();
    const buffer = Buffer.alloc(Math.min(READ_BYTES, sizeBytes - at));
    const { bytesRead } = isShort
      ? { bytesRead: buffer.length }
      : await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) {
      isShort = true;
      onShort();
      continue;
    }
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function largest(found: readonly Found[]): string {
  return found
    .filter((one) => one.kind === "file")
    .toSorted((a, b) => b.sizeBytes - a.sizeBytes)
    .slice(0, LARGEST_SHOWN)
    .map(({ path, sizeBytes }) => `"${path}" (${formatBytes(sizeBytes)})`)
    .join(", ");
}

/** The folders at the top with the most files. */
function crowded(found: readonly Found[]): string {
  const counts = new Map<string, number>();
  for (const { path } of found) {
    const folder = path.includes("/") ? path.slice(0, path.indexOf("/") + 1) : ".";
    counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .slice(0, LARGEST_SHOWN)
    .map(([folder, count]) => `"${folder}" (${count})`)
    .join(", ");
}
