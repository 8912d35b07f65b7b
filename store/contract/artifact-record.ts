import { checkArtifactRecord, type ArtifactRecord } from "#core/types/artifact.ts";

/** A record as core passes it to a store; without content a reference. */
export function artifactRecord(parts: Partial<ArtifactRecord> = {}): ArtifactRecord {
  return checkArtifactRecord({
    name: "file.bin",
    step: undefined,
    kind: "file",
    uri: undefined,
    content: undefined,
    mediaType: "",
    metadata: new Map(),
    sha256: undefined,
    sizeBytes: undefined,
    ...parts,
  });
}
