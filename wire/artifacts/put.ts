import type { Artifacts } from "#core/artifacts/artifacts.ts";
import type { UploadHead } from "#core/artifacts/uploads.ts";
import { CairnError } from "#lang/errors.ts";
import type { Artifact } from "#core/types/artifact.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { paced } from "#wire/kit/paced.ts";
import { sendJson } from "#wire/kit/respond.ts";
import type { Call } from "#wire/kit/router.ts";
import { declaredLength, streamBody } from "#wire/kit/stream-body.ts";
import { artifactJson } from "./artifact-json.ts";
import { askedArtifact, headerOf, uploadHead } from "./asked.ts";
import { parseContentRange } from "./content-range.ts";

const PARAMETERS = ["step", "kind"];

/** PUT /artifacts/RUN_ID/NAME: all of it or, with `content-range`, a piece. It ends when the caller loses the right to it. */
export async function putArtifact(artifacts: Artifacts, call: Call): Promise<void> {
  const asked = askedArtifact(call, PARAMETERS);
  const head = uploadHead(call, asked);
  const right = await artifacts.hold(call.caller, asked);
  try {
    const content = paced(streamBody(call.request, right.signal), call.account);
    await putContent(artifacts, call, { run: asked.run, head, content });
  } finally {
    right.release();
  }
}

async function putContent(
  artifacts: Artifacts,
  call: Call,
  { run, head, content }: { run: RunRef; head: UploadHead; content: AsyncIterable<Uint8Array> },
): Promise<void> {
  const { request, response, caller } = call;
  const digest = headerOf(request, "x-cairn-sha256")?.toLowerCase();
  const range = headerOf(request, "content-range");
  const length = declaredLength(request);
  if (range === undefined) {
    const expect = {
      ...(digest !== undefined && { digest }),
      ...(length !== undefined && { sizeBytes: length }),
    };
    sendArtifact(call, await artifacts.uploads.put(caller, run, head, content, expect));
    return;
  }
  if (digest === undefined) {
    throw new CairnError("invalid", "cannot accept a piece of an upload without the digest of all of it", {
      hint: "send the header x-cairn-sha256 with every piece",
    });
  }
  const { totalBytes, piece } = parseContentRange(range);
  const state = await artifacts.uploads
    .putPiece(caller, run, head, {
      digest,
      totalBytes,
      piece: piece && { ...piece, content },
    })
    .catch((thrown: unknown) => {
      const offset =
        thrown instanceof CairnError && thrown.reason === "UPLOAD_OFFSET" && thrown.facts["offset"];
      if (typeof offset === "string") response.setHeader("upload-offset", offset);
      throw thrown;
    });
  if (state.done) {
    sendArtifact(call, state.artifact);
    return;
  }
  response.setHeader("upload-offset", String(state.offset));
  sendJson(response, 202, { uploadOffset: String(state.offset) });
}

function sendArtifact({ response }: Call, artifact: Artifact): void {
  response.setHeader("etag", `"${artifact.sha256}"`);
  response.setHeader("upload-offset", String(artifact.sizeBytes));
  sendJson(response, 201, artifactJson(artifact));
}
