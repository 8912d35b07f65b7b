import { createHash, type Hash } from "node:crypto";
import { constants } from "node:fs";
import { open, rename, rm, type FileHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { CommandError } from "../cli.ts";
import { cut, printable } from "../output/text.ts";
import { readContent } from "./read-content.ts";
import { requirePlain } from "./target-path.ts";

const BLOCK_BYTES = 1 << 20;
const PART_NAME_BYTES_MAX = 200;

export interface DownloadOptions {
  /** Replaces a file of other content. */
  force: boolean;
  onBytes(count: number): void;
  signal: AbortSignal;
}

/** "same": the file was there already. "resumed": part of it was. */
export type Downloaded = "fetched" | "resumed" | "same";

/**
 * Brings the content of an artifact into `file`. It is written to a `.part` file beside it, which a later call
 * continues, and renamed once its SHA-256 is what the server announced.
 */
export async function download(
  server: Cairn,
  artifact: Artifact,
  file: string,
  options: DownloadOptions,
): Promise<Downloaded> {
  const size = Number(artifact.sizeBytes);
  if (await holds(file, artifact, options)) {
    options.onBytes(size);
    return "same";
  }
  const path = partPath(file, artifact);
  await requirePlain(path, artifact.name);
  const { O_RDWR, O_CREAT, O_NOFOLLOW } = constants;
  const part = await open(path, O_RDWR | O_CREAT | (O_NOFOLLOW ?? 0), 0o666);
  let kept: number;
  try {
    kept = await fill(server, artifact, part, options);
    await part.datasync();
  } catch (thrown) {
    if (thrown instanceof WrongContent) await rm(path, { force: true });
    throw thrown;
  } finally {
    await part.close();
  }
  await requirePlain(file, artifact.name);
  await rename(path, file);
  return kept > 0 ? "resumed" : "fetched";
}

/** Named after the content, so that a part is never continued with another one. */
function partPath(file: string, { name, sha256 }: Artifact): string {
  const mark = createHash("sha256").update(`${sha256}\0${name}`).digest("hex").slice(0, 12);
  let shown = basename(file);
  while (Buffer.byteLength(shown) > PART_NAME_BYTES_MAX) shown = shown.slice(0, -1);
  return join(dirname(file), `${shown.toWellFormed()}.${mark}.part`);
}

class WrongContent extends CommandError {}

/** Returns how many bytes were there before. */
async function fill(
  server: Cairn,
  artifact: Artifact,
  part: FileHandle,
  { onBytes, signal }: DownloadOptions,
): Promise<number> {
  const size = Number(artifact.sizeBytes);
  let kept = (await part.stat()).size;
  if (kept > size) kept = 0;
  for (;;) {
    const hash = createHash("sha256");
    await hashFile(part, kept, hash);
    onBytes(kept);
    let at = kept;
    const take = async (bytes: Uint8Array) => {
      await writeAll(part, bytes, at);
      hash.update(bytes);
      at += bytes.length;
      onBytes(bytes.length);
    };
    await readContent(server, artifact, { from: kept, take, signal });
    await part.truncate(size);
    if (hash.digest("hex") === artifact.sha256) return kept;
    if (kept === 0) {
      throw new WrongContent(
        `cannot use the content of "${printable(cut(artifact.name, 200))}": its SHA-256 is not ${artifact.sha256}`,
        {
          hint: "run the command again; if it fails again, `cairn verify --all` looks for damage on the server",
        },
      );
    }
    // The part from before was damaged, or another program wrote to it.
    onBytes(-size);
    kept = 0;
  }
}

/** Whether the file has the same content. Throws when it differs and must not be replaced. */
async function holds(file: string, artifact: Artifact, { force }: DownloadOptions): Promise<boolean> {
  await requirePlain(file, artifact.name);
  const found = await open(file, "r").catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "ENOENT") return undefined;
    throw thrown;
  });
  if (found === undefined) return false;
  try {
    const { size } = await found.stat();
    const hash = createHash("sha256");
    if (size === Number(artifact.sizeBytes)) {
      await hashFile(found, size, hash);
      if (hash.digest("hex") === artifact.sha256) return true;
    }
  } finally {
    await found.close();
  }
  if (force) return false;
  throw new CommandError(`cannot write "${printable(file)}": a file of other content is there`, {
    hint: "choose another path with -o, or --force to replace it",
  });
}

async function hashFile(file: FileHandle, size: number, hash: Hash): Promise<void> {
  const block = Buffer.allocUnsafe(BLOCK_BYTES);
  for (let at = 0; at < size;) {
    const { bytesRead } = await file.read(block, 0, Math.min(BLOCK_BYTES, size - at), at);
    if (bytesRead === 0) throw new Error("cannot read a file: it was truncated while it was read");
    hash.update(block.subarray(0, bytesRead));
    at += bytesRead;
  }
}

async function writeAll(file: FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await file
      .write(bytes, done, bytes.length - done, at + done)
      .catch((thrown: Error) => {
        throw new CommandError(`cannot write the download: ${thrown.message}`, {
          hint: "what was downloaded is kept; run the command again to resume",
        });
      });
    done += bytesWritten;
  }
}
