import type { Artifact } from "#core/types/artifact.ts";

/** The artifact in the JSON of ArtifactService, so that clients need only one form. */
export function artifactJson(artifact: Artifact): Record<string, unknown> {
  const { step, sizeBytes, uri, metadata } = artifact;
  return {
    runId: artifact.runId,
    name: artifact.name,
    ...(step !== undefined && { step: String(step) }),
    kind: `ARTIFACT_KIND_${artifact.kind.toUpperCase()}`,
    place: artifact.place === "reference" ? "ARTIFACT_PLACE_REFERENCE" : "ARTIFACT_PLACE_STORED",
    ...(uri !== "" && { uri }),
    ...(artifact.sha256 !== undefined && { sha256: artifact.sha256 }),
    ...(sizeBytes !== undefined && { sizeBytes: String(sizeBytes) }),
    mediaType: artifact.mediaType,
    ...(metadata.size > 0 && { metadata: Object.fromEntries(metadata) }),
    createdUs: String(artifact.createdUs),
    ...(artifact.createdBy !== "" && { createdBy: artifact.createdBy }),
  };
}
