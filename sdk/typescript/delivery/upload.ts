import { open, stat, type FileHandle } from "node:fs/promises";
import { Code } from "@connectrpc/connect";
import { z } from "zod";
import type { Cairn } from "../client.ts";
import { Failure } from "../failure.ts";
import { httpFailure } from "../http-failure.ts";
import { isFinal } from "../retry.ts";
import { readAnswer, type Answer } from "./read-answer.ts";

/** The body of an upload frame. */
export const UploadOrder = z.object({
  name: z.string(),
  path: z.string(),
  spooled: z.boolean(),
  sizeBytes: z.number().int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  mediaType: z.string(),
  kind: z.string(),
  step: z.number().int().nullable(),
  /** JSON text by key. */
  metadata: z.record(z.string(), z.string()),
});
export type UploadOrder = z.infer<typeof UploadOrder>;

export type OnUploadProgress = (order: UploadOrder, sentBytes: number) => void;

/** The file cannot be uploaded, now or ever. */
export class UploadRefused extends Error {}

const PIECE_BYTES = 8 << 20;
const PIECE_MS_MAX = 300_000;
/** The server said so often that a piece begins elsewhere. */
const DETOURS_MAX = 10;

/**
 * Sends a file, in pieces when it is large, from where the server has got to. Throws UploadRefused for what will never
 * work, Failure for what may work later.
 */
export async function upload(
  cairn: Cairn,
  runId: string,
  order: UploadOrder,
  path: string,
  signal: AbortSignal,
  onProgress: OnUploadProgress = () => {},
): Promise<void> {
  const file = await openFile(order, path);
  try {
    const put = (headers: Record<string, string>, body: Uint8Array<ArrayBuffer> | undefined) =>
      readAnswer(cairn, target(runId, order), {
        method: "PUT",
        headers: { ...headersOf(order), ...headers },
        ...(body !== undefined && { body }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(PIECE_MS_MAX)]),
      });
    if (order.sizeBytes <= PIECE_BYTES) {
      requireStored(order, await put({}, await readPiece(file, order, 0)), cairn.url);
      onProgress(order, order.sizeBytes);
      return;
    }
    let offset = offsetOf(
      order,
      await put({ "content-range": `bytes */${order.sizeBytes}` }, undefined),
      cairn.url,
    );
    for (let detours = 0; offset < order.sizeBytes;) {
      onProgress(order, offset);
      const piece = await readPiece(file, order, offset);
      const range = `bytes ${offset}-${offset + piece.length - 1}/${order.sizeBytes}`;
      const reached = offsetOf(order, await put({ "content-range": range }, piece), cairn.url);
      if (reached !== offset + piece.length && ++detours > DETOURS_MAX) {
        throw new Failure(
          Code.Unavailable,
          `cannot upload "${order.name}": the server accepts no more of it`,
        );
      }
      offset = reached;
    }
    onProgress(order, order.sizeBytes);
  } finally {
    await file.close();
  }
}

async function openFile({ name, sizeBytes }: UploadOrder, path: string): Promise<FileHandle> {
  try {
    const found = await stat(path);
    if (!found.isFile() || found.size !== sizeBytes) {
      throw new UploadRefused(`cannot upload "${name}": "${path}" has changed since it was recorded`);
    }
    return await open(path, "r");
  } catch (thrown) {
    if (thrown instanceof UploadRefused) throw thrown;
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === "ENOENT") throw new UploadRefused(`cannot upload "${name}": "${path}" no longer exists`);
    throw new Failure(Code.Unavailable, `cannot upload "${name}": ${message}`, { cause: thrown });
  }
}

async function readPiece(
  file: FileHandle,
  { name, sizeBytes }: UploadOrder,
  offset: number,
): Promise<Uint8Array<ArrayBuffer>> {
  const piece = new Uint8Array(Math.min(PIECE_BYTES, sizeBytes - offset));
  let done = 0;
  while (done < piece.length) {
    const { bytesRead } = await file.read(piece, done, piece.length - done, offset + done);
    if (bytesRead === 0)
      throw new UploadRefused(`cannot upload "${name}": the file became shorter meanwhile`);
    done += bytesRead;
  }
  return piece;
}

function target(runId: string, { name, step, kind }: UploadOrder): string {
  const query = new URLSearchParams({ kind, ...(step !== null && { step: String(step) }) });
  return `/artifacts/${runId}/${name.split("/").map(encodeURIComponent).join("/")}?${query.toString()}`;
}

function headersOf({ sha256, mediaType, metadata }: UploadOrder): Record<string, string> {
  const entries = Object.entries(metadata);
  const json = `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(",")}}`;
  return {
    "x-cairn-sha256": sha256,
    "content-type": mediaType === "" ? "application/octet-stream" : mediaType,
    // A header holds ASCII only.
    ...(entries.length > 0 && {
      "x-cairn-metadata": json.replace(
        /[^\x20-\x7e]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
      ),
    }),
  };
}

function requireStored(order: UploadOrder, answer: Answer, url: string): void {
  if (answer.status !== 201) throw failureOf(order, answer, url);
  // Something else may answer 201, too; only the server names the digest.
  if (!Buffer.from(answer.bytes).toString().includes(order.sha256)) {
    throw new Failure(Code.Unavailable, `cannot upload "${order.name}": ${url} is not a Cairn server`);
  }
}

function offsetOf(order: UploadOrder, answer: Answer, url: string): number {
  if (answer.status === 201) {
    requireStored(order, answer, url);
    return order.sizeBytes;
  }
  const offset = Number(answer.headers.get("upload-offset") ?? Number.NaN);
  const known = answer.status === 202 || answer.status === 409;
  if (known && offset >= 0 && offset <= order.sizeBytes) return offset;
  throw failureOf(order, answer, url);
}

function failureOf({ name }: UploadOrder, answer: Answer, url: string): Error {
  const text = Buffer.from(answer.bytes).toString();
  const failure = httpFailure(`cannot upload "${name}" to ${url}`, answer, text);
  return isFinal(failure) ? new UploadRefused(failure.message) : failure;
}
