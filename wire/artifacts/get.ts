import type { Artifacts } from "#core/artifacts/artifacts.ts";
import { CairnError, quote } from "#lang/errors.ts";
import type { Artifact } from "#core/types/artifact.ts";
import type { HttpResponse } from "#wire/kit/http.ts";
import type { Call } from "#wire/kit/router.ts";
import { sendStream } from "#wire/kit/send-stream.ts";
import { askedArtifact, headerOf } from "./asked.ts";
import { matchesTag, parseRange, type ByteRange } from "./byte-range.ts";
import { dispositionOf } from "./disposition.ts";

/** GET and HEAD /artifacts/RUN_ID/NAME: the content, or the part of it that `range` requests. */
export async function getArtifact(artifacts: Artifacts, call: Call): Promise<void> {
  const { request, response, caller } = call;
  const asked = askedArtifact(call);
  const isHead = request.method === "HEAD";
  let range: ByteRange | undefined;
  const { artifact, body, right } = await artifacts.open(caller, asked, (found) => {
    range = isHead ? undefined : rangeOf(call, found);
    return range;
  });
  try {
    setHead(response, artifact);
    const start = body[Symbol.asyncIterator]();
    if (matchesTag(headerOf(request, "if-none-match"), tagOf(artifact))) {
      await start.return?.();
      response.statusCode = 304;
      response.end();
      return;
    }
    const size = artifact.sizeBytes!;
    const { start: from, end } = range ?? { start: 0, end: size };
    response.statusCode = range === undefined ? 200 : 206;
    if (range !== undefined) response.setHeader("content-range", `bytes ${from}-${end - 1}/${size}`);
    response.setHeader("content-type", artifact.mediaType);
    response.setHeader("content-length", String(end - from));
    if (isHead) {
      await start.return?.();
      response.end();
      return;
    }
    await sendStream(response, body, right.signal);
  } finally {
    right.release();
  }
}

/** Throws `invalid` (RANGE) when it is outside of the content. */
function rangeOf({ request, response }: Call, artifact: Artifact): ByteRange | undefined {
  if (artifact.sizeBytes === undefined) return undefined;
  const condition = headerOf(request, "if-range");
  // Another version than the client has a part of: it gets all of this one. Dates match nothing here.
  if (condition !== undefined && condition.trim() !== tagOf(artifact)) return undefined;
  if (matchesTag(headerOf(request, "if-none-match"), tagOf(artifact))) return undefined;
  const range = parseRange(headerOf(request, "range"), artifact.sizeBytes);
  if (range !== "unsatisfiable") return range;
  response.setHeader("content-range", `bytes */${artifact.sizeBytes}`);
  throw new CairnError(
    "invalid",
    `cannot read that range of artifact ${quote(artifact.name)}: it has ${artifact.sizeBytes} bytes`,
    { reason: "RANGE", facts: { sizeBytes: String(artifact.sizeBytes) } },
  );
}

/** A browser must only save it as a file: uploads are untrusted. */
function setHead(response: HttpResponse, artifact: Artifact): void {
  response.setHeader("etag", tagOf(artifact));
  response.setHeader("accept-ranges", "bytes");
  response.setHeader("cache-control", "private, no-cache");
  response.setHeader("content-disposition", dispositionOf(artifact.name));
  response.setHeader("content-security-policy", "sandbox; default-src 'none'");
  response.setHeader("cross-origin-resource-policy", "same-origin");
  response.setHeader("x-content-type-options", "nosniff");
}

function tagOf({ sha256 }: Artifact): string {
  return `"${sha256}"`;
}
