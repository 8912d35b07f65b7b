import { create } from "@bufbuild/protobuf";
import { CairnError } from "#lang/errors.ts";
import {
  ARTIFACT_KINDS,
  type Artifact,
  type ArtifactKind,
  type ArtifactRecord,
  type ReplacedArtifact,
} from "#core/types/artifact.ts";
import {
  ArtifactPlace,
  ArtifactSchema,
  type Artifact as ArtifactMessage,
  type ArtifactKind as KindMessage,
  type ArtifactRecord as RecordMessage,
} from "#proto/cairn/v1/artifact_pb.ts";
import { fromMap, toInteger, toMap } from "./map.ts";

export function fromArtifact(artifact: Artifact | ReplacedArtifact): ArtifactMessage {
  const { step, sizeBytes } = artifact;
  return create(ArtifactSchema, {
    runId: artifact.runId,
    name: artifact.name,
    ...(step !== undefined && { step: BigInt(step) }),
    // The proto has the kinds in the same order, after unspecified.
    kind: (ARTIFACT_KINDS.indexOf(artifact.kind) + 1) as KindMessage,
    place: artifact.place === "reference" ? ArtifactPlace.REFERENCE : ArtifactPlace.STORED,
    uri: artifact.uri,
    sha256: artifact.sha256 ?? "",
    ...(sizeBytes !== undefined && { sizeBytes: BigInt(sizeBytes) }),
    mediaType: artifact.mediaType,
    metadata: fromMap(artifact.metadata),
    createdUs: BigInt(artifact.createdUs),
    createdBy: artifact.createdBy,
    ...("version" in artifact && {
      version: BigInt(artifact.version),
      replacedUs: BigInt(artifact.replacedUs),
      replacedBy: artifact.replacedBy,
    }),
  });
}

export function toArtifactRecord(message: RecordMessage | undefined): ArtifactRecord {
  if (message === undefined) throw new CairnError("invalid", "cannot record an artifact without an artifact");
  const { uri, content, sha256, sizeBytes } = message;
  return {
    name: message.name,
    step: toStep(message.step),
    kind: toKind(message.kind) ?? "file",
    uri: uri === "" ? undefined : uri,
    content,
    mediaType: message.mediaType,
    metadata: toMap(message.metadata),
    sha256: sha256 === "" ? undefined : sha256,
    sizeBytes: sizeBytes === undefined ? undefined : toInteger(sizeBytes, "size of an artifact"),
  };
}

export function toStep(step: bigint | undefined): number | undefined {
  return step === undefined ? undefined : toInteger(step, "step of an artifact");
}

/** undefined for unspecified. */
export function toKind(value: number): ArtifactKind | undefined {
  if (value === 0) return undefined;
  const kind = ARTIFACT_KINDS[value - 1];
  if (kind === undefined)
    throw new CairnError("invalid", `cannot accept artifact kind ${value}: it is unknown`);
  return kind;
}
