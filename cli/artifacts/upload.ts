import { createHash } from "node:crypto";
import { open, type FileHandle } from "node:fs/promises";
import type { Cairn } from "#sdk/client.ts";
import { upload as sendFile, UploadRefused, type UploadOrder } from "#sdk/delivery/upload.ts";
import { Attempts } from "#sdk/retry.ts";
import { CommandError, EXIT } from "../cli.ts";
import { printable } from "../output/text.ts";
import type { ContentName } from "#lang/content-path.ts";
import { TRANSFER_PATIENCE_MS } from "./content-call.ts";

const BLOCK_BYTES = 1 << 20;

/** A file that was read once, so that its digest is known. */
export interface MeasuredFile {
  path: string;
  sizeBytes: number;
  sha256: string;
}

export interface UploadOptions {
  /** Such as "model". */
  kind: string;
  /** JSON text by key. */
  metadata: Readonly<Record<string, string>>;
  onBytes(count: number): void;
  signal: AbortSignal;
}

/** Reads a file to its end. Throws CommandError if it is not a file. */
export async function measureFile(
  path: string,
  { onBytes, signal }: Pick<UploadOptions, "onBytes" | "signal">,
): Promise<MeasuredFile> {
  const file = await openFile(path);
  try {
    const hash = createHash("sha256");
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let sizeBytes = 0;
    for (;;) {
      signal.throwIfAborted();
      const { bytesRead } = await file.read(block, 0, block.length, sizeBytes);
      if (bytesRead === 0) break;
      hash.update(block.subarray(0, bytesRead));
      sizeBytes += bytesRead;
      onBytes(bytesRead);
    }
    return { path, sizeBytes, sha256: hash.digest("hex") };
  } finally {
    await file.close();
  }
}

/**
 * Sends a file over broken connections and restarts of the server. Says whether part of it was there already, from an
 * upload that broke off.
 */
export async function upload(
  server: Cairn,
  { path, sizeBytes, sha256 }: MeasuredFile,
  { runId, name, step }: ContentName,
  { kind, metadata, onBytes, signal }: UploadOptions,
): Promise<"sent" | "resumed"> {
  const order: UploadOrder = {
    name,
    path,
    spooled: false,
    sizeBytes,
    sha256,
    mediaType: "",
    kind,
    step: step === undefined ? null : Number(step),
    metadata,
  };
  const attempts = new Attempts({ patienceMs: TRANSFER_PATIENCE_MS, signal, url: server.url });
  let sent = 0;
  let first: number | undefined;
  const onProgress = (_: UploadOrder, reached: number) => {
    first ??= reached;
    if (reached > sent) attempts.progressed();
    onBytes(reached - sent);
    sent = reached;
  };
  for (;;) {
    try {
      await sendFile(server, runId, order, path, signal, onProgress);
      return first !== undefined && first > 0 && first < sizeBytes ? "resumed" : "sent";
    } catch (thrown) {
      if (thrown instanceof UploadRefused) throw new CommandError(thrown.message);
      await attempts.wait(thrown);
    }
  }
}

async function openFile(path: string): Promise<FileHandle> {
  const refuse = (cause: string) =>
    new CommandError(`cannot read "${printable(path)}": ${cause}`, { exitCode: EXIT.notFound });
  const file = await open(path, "r").catch((thrown: NodeJS.ErrnoException) => {
    throw refuse(thrown.code === "ENOENT" ? "there is no such file" : thrown.message);
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw refuse("it is not a plain file");
}
