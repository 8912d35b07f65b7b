/**
 * Ids, names and paths of TorchX are any text; those of a server are not. This maps them in both directions.
 * The Python client (sdk/python/cairn/tracker/names.py) does the same, so that each reads what the other wrote.
 */
import { createHash } from "node:crypto";
import type { Run } from "#proto/cairn/v1/run_pb.ts";
import { TrackerArtifact, type Metadata, type MetadataValue } from "./api.ts";
import { paramTexts, paramValues } from "./param-texts.ts";

/** Holds the id that TorchX gave to a run: it may have other aliases, and the id may be too long for one. */
export const RUN_ID_TAG = "torchx.run_id";
/** A key of an artifact's metadata that holds what could not be kept as it is. */
const EXTRA = "torchx";
const EMPTY_ALIAS = "torchx:empty";
const NO_PATH = "torchx:no-path";

/** See docs/limits.md. */
const ALIAS_BYTES_MAX = 1_024;
const NAME_BYTES_MAX = 1_024;
const NAME_PARTS_MAX = 32;
const URI_BYTES_MAX = 8 * 1_024;
const TAG_BYTES_MAX = 8 * 1_024;
/** "~" and a SHA-256. */
const DIGEST_BYTES = 65;

/** Aliases our own clients give to runs that have no other. */
const OWN_ALIAS = /^(?:cairn|id):/;

/** The same for the same id, on every machine. One that is too long keeps its beginning and gets a digest. */
export function toAlias(runId: string): string {
  const text = wellFormed(runId);
  if (text === "") return EMPTY_ALIAS;
  if (Buffer.byteLength(text) <= ALIAS_BYTES_MAX) return text;
  return withDigest(text, text, ALIAS_BYTES_MAX);
}

export function runIdTag(runId: string): string {
  return cutBytes(wellFormed(runId), TAG_BYTES_MAX);
}

/** `sh-f6bb` of `local_cwd://torchx/sh-f6bb`. */
export function lastPart(trackerId: string): string {
  const last = trackerId.slice(trackerId.lastIndexOf("/") + 1);
  return (last === "" ? trackerId : last)
    .replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
    .slice(0, 128)
    .toWellFormed();
}

/** What TorchX calls a run; of one that TorchX has not made, what it is called otherwise. */
export function torchxIdOf({ id, aliases, tags }: Pick<Run, "id" | "aliases" | "tags">): string {
  return tags[RUN_ID_TAG] ?? aliases.find((alias) => !OWN_ALIAS.test(alias)) ?? id;
}

/** What could not be kept as it is. */
interface Extra {
  name?: string;
  path?: string;
  /** Keys of the metadata whose values are texts of what was given, with its kind. */
  as_text?: Record<string, string>;
  empty_metadata?: true;
}

export interface ArtifactFields {
  name: string;
  uri: string;
  metadata: Record<string, string>;
}

/** A reference with the name and path TorchX gave, as far as a server takes them; the rest goes into its metadata. */
export function artifactFields(name: string, path: string, metadata: Metadata | null): ArtifactFields {
  if (metadata === null) return artifactFieldsOf(name, path, null);
  const { texts, textOf } = paramTexts(metadata);
  return artifactFieldsOf(name, path, new Map(Object.entries(texts)), textOf);
}

/** The same for metadata that are JSON texts already. */
export function artifactFieldsOf(
  name: string,
  path: string,
  texts: ReadonlyMap<string, string> | null,
  textOf: ReadonlyMap<string, string> = new Map(),
): ArtifactFields {
  const stored = toArtifactName(name);
  const uri = cutBytes(escapeControls(wellFormed(path)), URI_BYTES_MAX) || NO_PATH;
  // In rising order of the keys, as the server keeps it.
  const extra: Extra = {
    ...(textOf.size > 0 && { as_text: Object.fromEntries(textOf) }),
    ...(texts?.size === 0 && { empty_metadata: true }),
    // A long one is listed under its stored name: cut, two of them could be one.
    ...(stored !== name && Buffer.byteLength(name) <= NAME_BYTES_MAX && { name: wellFormed(name) }),
    ...(uri !== path && { path: cutBytes(wellFormed(path), URI_BYTES_MAX) }),
  };
  const hasExtra = Object.keys(extra).length > 0;
  const metadata = new Map([
    ...(texts ?? []),
    ...(hasExtra ? [[EXTRA, JSON.stringify(extra)] as const] : []),
  ]);
  return { name: stored, uri, metadata: Object.fromEntries(metadata) };
}

/** Name, path and metadata as they were given. `content` is the path of one that is not a reference. */
export function readArtifact(artifact: ArtifactFields, content: string): TrackerArtifact {
  const metadata = paramValues(artifact.metadata);
  const extra = asExtra(metadata.get(EXTRA));
  if (extra !== undefined) metadata.delete(EXTRA);
  const given = metadata.size > 0 || extra?.empty_metadata === true ? metadata : null;
  return new TrackerArtifact(extra?.name ?? artifact.name, extra?.path ?? (artifact.uri || content), given);
}

function asExtra(value: MetadataValue | undefined): Extra | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const { name, path, empty_metadata: isEmpty } = value as Record<string, MetadataValue>;
  return {
    ...(typeof name === "string" && { name }),
    ...(typeof path === "string" && { path }),
    ...(isEmpty === true && { empty_metadata: true }),
  };
}

/** A relative path that cannot climb. What a server does not take is percent-encoded. */
function toArtifactName(name: string): string {
  const text = wellFormed(name);
  const parts = text.split("/").map((part) => REPLACED.get(part) ?? part);
  const clean = escapeControls(parts.join("/"))
    .replaceAll("\\", "%5C")
    .replace(/^([A-Za-z]):/, "$1%3A");
  if (Buffer.byteLength(clean) <= NAME_BYTES_MAX && parts.length <= NAME_PARTS_MAX) return clean;
  return withDigest(clean.replaceAll("/", "_"), text, NAME_BYTES_MAX);
}

/** An empty part is between two slashes, or before the first. */
const REPLACED: ReadonlyMap<string, string> = new Map([
  ["", "%2F"],
  [".", "%2E"],
  ["..", "%2E%2E"],
]);

function escapeControls(text: string): string {
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (char) => encodeURIComponent(char));
}

function withDigest(text: string, digested: string, bytesMax: number): string {
  const digest = createHash("sha256").update(digested).digest("hex");
  return `${cutBytes(text, bytesMax - DIGEST_BYTES)}~${digest}`;
}

/** At most so many bytes of UTF-8, and no half character at the end. */
function cutBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while ((bytes[end]! & 0xc0) === 0x80) end--;
  return bytes.toString("utf8", 0, end);
}

/** Halves of surrogate pairs become what Python makes of them. */
function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.replaceAll(/\p{Cs}/gu, "?");
}
