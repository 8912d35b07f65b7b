import type { Artifact, ArtifactKind, ArtifactPlace } from "#core/types/artifact.ts";
import { splitObject } from "#lang/json/object-text.ts";
import type { Row } from "../file/db.ts";

/** The columns that are read of a table of artifacts that is called `artifact` in its query. */
export const ARTIFACT_COLUMNS = `artifact.name, step, kind, place, uri, sha256, size_bytes, media_type, metadata,
  artifact.created_us, artifact.created_by`;

export const NO_STEP = Number.NEGATIVE_INFINITY;

export function toArtifact(runId: string, row: Row): Artifact {
  const [name, step, kind, place, uri, sha256, sizeBytes, mediaType, metadata, createdUs, createdBy] = row;
  return {
    runId,
    name: String(name),
    step: step === NO_STEP ? undefined : Number(step),
    kind: kind as ArtifactKind,
    place: place as ArtifactPlace,
    uri: String(uri),
    sha256: hexOf(sha256),
    sizeBytes: sizeBytes === null ? undefined : Number(sizeBytes),
    mediaType: String(mediaType),
    metadata: splitObject(String(metadata)),
    createdUs: Number(createdUs),
    createdBy: String(createdBy),
  };
}

export function hexOf(digest: Row[number] | undefined): string | undefined {
  return digest instanceof Uint8Array ? Buffer.from(digest).toString("hex") : undefined;
}
