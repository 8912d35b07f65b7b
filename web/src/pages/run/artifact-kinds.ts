import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";

const WORDS: Readonly<Record<number, string>> = {
  [ArtifactKind.FILE]: "file",
  [ArtifactKind.MODEL]: "model",
  [ArtifactKind.DATASET]: "dataset",
  [ArtifactKind.IMAGE]: "image",
  [ArtifactKind.AUDIO]: "audio",
  [ArtifactKind.TABLE]: "table",
  [ArtifactKind.HISTOGRAM]: "histogram",
  [ArtifactKind.TEXT]: "text",
  [ArtifactKind.CURVE]: "curve",
};

export function kindWord(kind: ArtifactKind): string {
  return WORDS[kind] ?? "file";
}
