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

/** Formats based on pickle: loading one may run its code. */
const PICKLED = /\.(?:pkl|pickle|pt|pth|ckpt|joblib|dill|cloudpickle)$/i;

/** Whether loading it with the usual library may run its code. By its name: the server does not inspect the content. */
export function mayRunCode({ name, uri }: { name: string; uri: string }): boolean {
  return PICKLED.test(name) || PICKLED.test(uri);
}
