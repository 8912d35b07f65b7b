import { ArtifactPlace, type Artifact } from "#proto/cairn/v1/artifact_pb.ts";

export type PreviewKind =
  | "image"
  | "svg"
  | "audio"
  | "video"
  | "json"
  | "csv"
  | "markdown"
  | "html"
  | "text"
  | "reference"
  | "none";

/** More of a text than this is not fetched. */
export const TEXT_BYTES_MAX = 1_000_000;
/** A larger picture is only for download, because it could crash the tab. */
const MEDIA_BYTES_MAX = 64_000_000;

const IMAGES = /^image\/(?:png|jpeg|gif|webp|avif|bmp|x-icon)$/;
const TEXT_NAMES =
  /\.(?:txt|log|ya?ml|toml|ini|cfg|conf|py|js|ts|sh|sql|xml|patch|diff|rst|tex|env|lock|ipynb)$/i;

/** How an artifact is shown, by its media type or else by its name. */
export function previewKind({ name, mediaType, place, sizeBytes }: Artifact): PreviewKind {
  if (place === ArtifactPlace.REFERENCE) return "reference";
  const type = mediaType.split(";")[0]!.trim().toLowerCase();
  const isSmall = (sizeBytes ?? 0n) <= MEDIA_BYTES_MAX;
  if (IMAGES.test(type)) return isSmall ? "image" : "none";
  if (type === "image/svg+xml") return "svg";
  if (type.startsWith("audio/")) return "audio";
  if (type.startsWith("video/")) return "video";
  if (type === "text/html" || type === "application/xhtml+xml") return "html";
  if (type === "application/json" || type.endsWith("+json") || /\.json$/i.test(name)) return "json";
  if (type === "text/csv" || type === "text/tab-separated-values" || /\.[ct]sv$/i.test(name)) return "csv";
  if (type === "text/markdown" || /\.(?:md|markdown)$/i.test(name)) return "markdown";
  return type.startsWith("text/") || TEXT_NAMES.test(name) ? "text" : "none";
}
