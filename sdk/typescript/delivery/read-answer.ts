import { Code } from "@connectrpc/connect";
import type { Cairn } from "../client.ts";
import { Failure } from "../failure.ts";

export interface Answer {
  status: number;
  headers: Headers;
  bytes: Uint8Array;
}

/** No answer to a write is longer. */
const ANSWER_BYTES_MAX = 64 << 10;

/** Sends a request and reads all of its answer. Throws Failure when none comes, or one that is too long. */
export async function readAnswer(cairn: Cairn, path: string, init: RequestInit): Promise<Answer> {
  try {
    const response = await cairn.fetch(path, init);
    const pieces: Uint8Array[] = [];
    let sizeBytes = 0;
    for await (const piece of response.body ?? []) {
      sizeBytes += piece.length;
      if (sizeBytes > ANSWER_BYTES_MAX) {
        throw new Failure(Code.Unavailable, `cannot use the answer of ${cairn.url}: it is too long`);
      }
      pieces.push(piece);
    }
    return { status: response.status, headers: response.headers, bytes: Buffer.concat(pieces) };
  } catch (thrown) {
    if (init.signal?.aborted === true && !(thrown instanceof Failure)) {
      throw new Failure(Code.DeadlineExceeded, `no answer from ${cairn.url} in time`, { cause: thrown });
    }
    throw Failure.from(thrown, cairn.url);
  }
}
