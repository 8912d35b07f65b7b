import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const SHAPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?: ?; ?${TOKEN}=(?:${TOKEN}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);
const UNKNOWN = "application/octet-stream";

/** The media type that was given, or one that suits the name when "" was. Throws `invalid`. */
export function checkedMediaType(given: string, name: string): string {
  if (given === "") return guessMediaType(name);
  if (given.length <= limits.mediaTypeBytesMax && SHAPE.test(given)) return given;
  throw new CairnError("invalid", `cannot use media type ${quote(given)} of artifact ${quote(name)}`, {
    hint: 'write it as in "image/png", or leave it out to have it guessed from the name',
  });
}

/** By the name's extension; application/octet-stream for unknown ones. */
function guessMediaType(name: string): string {
  const file = name.slice(name.lastIndexOf("/") + 1);
  const dot = file.lastIndexOf(".");
  // A leading dot makes a hidden file, not an extension.
  return dot <= 0 ? UNKNOWN : (BY_EXTENSION.get(file.slice(dot + 1).toLowerCase()) ?? UNKNOWN);
}

/** Types of files that runs write. Content is never inspected: it is served as a download of any type. */
const BY_EXTENSION: ReadonlyMap<string, string> = new Map([
  ["txt", "text/plain; charset=utf-8"],
  ["log", "text/plain; charset=utf-8"],
  ["out", "text/plain; charset=utf-8"],
  ["err", "text/plain; charset=utf-8"],
  ["ini", "text/plain; charset=utf-8"],
  ["cfg", "text/plain; charset=utf-8"],
  ["md", "text/markdown; charset=utf-8"],
  ["csv", "text/csv; charset=utf-8"],
  ["tsv", "text/tab-separated-values; charset=utf-8"],
  ["html", "text/html; charset=utf-8"],
  ["htm", "text/html; charset=utf-8"],
  ["css", "text/css; charset=utf-8"],
  ["js", "text/javascript; charset=utf-8"],
  ["py", "text/x-python; charset=utf-8"],
  ["sh", "text/x-shellscript; charset=utf-8"],
  ["patch", "text/x-diff; charset=utf-8"],
  ["diff", "text/x-diff; charset=utf-8"],
  ["json", "application/json"],
  ["jsonl", "application/jsonl"],
  ["ndjson", "application/x-ndjson"],
  ["ipynb", "application/x-ipynb+json"],
  ["yaml", "application/yaml"],
  ["yml", "application/yaml"],
  ["toml", "application/toml"],
  ["xml", "application/xml"],
  ["pdf", "application/pdf"],
  ["png", "image/png"],
  ["jpg", "image/jpeg"],
  ["jpeg", "image/jpeg"],
  ["gif", "image/gif"],
  ["webp", "image/webp"],
  ["avif", "image/avif"],
  ["bmp", "image/bmp"],
  ["svg", "image/svg+xml"],
  ["tif", "image/tiff"],
  ["tiff", "image/tiff"],
  ["wav", "audio/wav"],
  ["mp3", "audio/mpeg"],
  ["flac", "audio/flac"],
  ["ogg", "audio/ogg"],
  ["opus", "audio/ogg"],
  ["m4a", "audio/mp4"],
  ["mp4", "video/mp4"],
  ["webm", "video/webm"],
  ["zip", "application/zip"],
  ["whl", "application/zip"],
  ["tar", "application/x-tar"],
  ["gz", "application/gzip"],
  ["tgz", "application/gzip"],
  ["bz2", "application/x-bzip2"],
  ["xz", "application/x-xz"],
  ["zst", "application/zstd"],
  ["parquet", "application/vnd.apache.parquet"],
  ["arrow", "application/vnd.apache.arrow.file"],
]);
