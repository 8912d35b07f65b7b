import { ArtifactKind } from "#proto/cairn/v1/artifact_pb.ts";

export type ArtifactKindName =
  | "file"
  | "model"
  | "dataset"
  | "image"
  | "audio"
  | "table"
  | "histogram"
  | "text"
  | "curve";

export const ARTIFACT_KINDS: Readonly<Record<ArtifactKindName, ArtifactKind>> = {
  file: ArtifactKind.FILE,
  model: ArtifactKind.MODEL,
  dataset: ArtifactKind.DATASET,
  image: ArtifactKind.IMAGE,
  audio: ArtifactKind.AUDIO,
  table: ArtifactKind.TABLE,
  histogram: ArtifactKind.HISTOGRAM,
  text: ArtifactKind.TEXT,
  curve: ArtifactKind.CURVE,
};

/** What media are by the ending of their file; the server knows many more types for files. */
const BY_ENDING: ReadonlyMap<string, { mediaType: string; kind: ArtifactKindName }> = new Map([
  ["png", { mediaType: "image/png", kind: "image" }],
  ["jpg", { mediaType: "image/jpeg", kind: "image" }],
  ["jpeg", { mediaType: "image/jpeg", kind: "image" }],
  ["gif", { mediaType: "image/gif", kind: "image" }],
  ["webp", { mediaType: "image/webp", kind: "image" }],
  ["svg", { mediaType: "image/svg+xml", kind: "image" }],
  ["wav", { mediaType: "audio/wav", kind: "audio" }],
  ["mp3", { mediaType: "audio/mpeg", kind: "audio" }],
  ["flac", { mediaType: "audio/flac", kind: "audio" }],
  ["ogg", { mediaType: "audio/ogg", kind: "audio" }],
  ["csv", { mediaType: "text/csv; charset=utf-8", kind: "table" }],
  ["tsv", { mediaType: "text/tab-separated-values; charset=utf-8", kind: "table" }],
  ["txt", { mediaType: "text/plain; charset=utf-8", kind: "text" }],
  ["md", { mediaType: "text/markdown; charset=utf-8", kind: "text" }],
  ["html", { mediaType: "text/html; charset=utf-8", kind: "text" }],
  ["json", { mediaType: "application/json", kind: "file" }],
]);

/** By the media type where one is given, else by the ending of the first name that has a known one. */
export function guessMedia(
  path: string,
  name: string,
  given = "",
): { mediaType: string; kind: ArtifactKindName } {
  for (const kind of ["image", "audio", "text"] as const) {
    if (given.startsWith(`${kind}/`)) return { mediaType: given, kind };
  }
  if (given !== "") return { mediaType: given, kind: "file" };
  for (const text of [path, name]) {
    const known = BY_ENDING.get(/\.([A-Za-z0-9]+)$/.exec(text)?.[1]?.toLowerCase() ?? "");
    if (known !== undefined) return known;
  }
  return { mediaType: "", kind: "file" };
}
