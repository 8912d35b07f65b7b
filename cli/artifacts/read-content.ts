import { Code } from "@connectrpc/connect";
import type { Artifact } from "#proto/cairn/v1/artifact_pb.ts";
import type { Cairn } from "#sdk/client.ts";
import { Failure } from "#sdk/failure.ts";
import { followStream } from "#sdk/follow-stream.ts";
import { contentPath } from "#lang/content-path.ts";
import { callContent, TRANSFER_PATIENCE_MS } from "./content-call.ts";

export interface ReadContentOptions {
  /** Where to begin. */
  from: number;
  /** Takes the next bytes; reading continues when it has returned. */
  take(bytes: Uint8Array): Promise<void>;
  signal: AbortSignal;
}

/** The content of a stored artifact from `from` to its end, over broken connections and restarts of the server. */
export async function readContent(
  server: Cairn,
  artifact: Artifact,
  { from, take, signal }: ReadContentOptions,
): Promise<void> {
  const size = Number(artifact.sizeBytes);
  let at = from;
  if (at >= size) return;
  async function* open(ended: AbortSignal): AsyncGenerator<Uint8Array> {
    const response = await ask(server, artifact, at, ended);
    for await (const bytes of response.body ?? []) {
      if (at + bytes.length > size) throw replaced(artifact);
      yield bytes;
      at += bytes.length;
    }
    if (at < size)
      throw new Failure(Code.Unavailable, `cannot read all of "${artifact.name}": the connection was lost`);
  }
  const pieces = followStream(server.url, open, { signal, patienceMs: TRANSFER_PATIENCE_MS });
  for await (const bytes of pieces) await take(bytes);
}

async function ask(server: Cairn, artifact: Artifact, at: number, signal: AbortSignal): Promise<Response> {
  const tag = `"${artifact.sha256}"`;
  const headers = at === 0 ? {} : { range: `bytes=${at}-`, "if-range": tag };
  const response = await callContent(server, contentPath(artifact), { headers, signal }, [200, 206]);
  // The content changed under the same name: the bytes so far do not belong to it.
  const isOther = response.headers.get("etag") !== tag || (at > 0 && response.status !== 206);
  if (!isOther) return response;
  await response.body?.cancel();
  throw replaced(artifact);
}

function replaced({ name }: Artifact): Failure {
  return new Failure(Code.FailedPrecondition, `cannot read "${name}": it was replaced during the download`, {
    hint: "run the command again for the new content",
  });
}
