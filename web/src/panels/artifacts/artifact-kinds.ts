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

/** Formats that are pickled inside: loading one runs whatever code is in it. */
const PICKLED = /\.(?:pkl|pickle|pt|pth|ckpt|joblib|dill|cloudpickle)$/i;

/** Whether opening it with the usual library may run code that is in it. By its name: the server never looks inside. */
export function mayRunCode({ name, uri }: { name: string; uri: string }): boolean {
  return PICKLED.test(name) || PICKLED.test(uri);
}
