import { createHash } from "node:crypto";
import { CairnError, quote } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { checkArtifactName } from "./artifact-name.ts";
import { isDigest } from "./blob.ts";
import { requireKey, requireText } from "./check.ts";
import { compareCodePoints } from "#lang/code-points.ts";
import { canonicalJson } from "#lang/json/canonical.ts";
import { joinObject } from "#lang/json/object-text.ts";
import { checkedMediaType } from "./media-type.ts";

/** What an artifact is used as. */
export const ARTIFACT_KINDS = [
  "file",
  "model",
  "dataset",
  "image",
  "audio",
  "table",
  "histogram",
  "text",
  "curve",
] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/**
 * Where the bytes are: somewhere else, in the row itself, or in the blob store under their SHA-256. Users
 * do not see a difference between the last two.
 */
export type ArtifactPlace = "reference" | "inline" | "blob";

/** An artifact as it is stored. */
export interface Artifact {
  runId: string;
  /** A relative path such as "checkpoints/epoch-3.pt"; it is a key and never touches a file system. */
  name: string;
  /** undefined when it belongs to no step. */
  step: number | undefined;
  kind: ArtifactKind;
  place: ArtifactPlace;
  /** "" unless it is a reference. The server never reads it. */
  uri: string;
  /** 64 lower-case hex digits. Of a reference as its writer declared it; undefined when it did not. */
  sha256: string | undefined;
  /** As `sha256`. */
  sizeBytes: number | undefined;
  mediaType: string;
  /** Canonical JSON text by key, as params. */
  metadata: ReadonlyMap<string, string>;
  createdUs: number;
  /** The principal who wrote it; "" when that is not known. */
  createdBy: string;
}

/** One that was replaced or deleted, and is kept for a while. */
export interface ReplacedArtifact extends Artifact {
  /** Identifies it in the store. */
  version: number;
  replacedUs: number;
  replacedBy: string;
}

/** The fields that all ways of recording an artifact have. */
interface ArtifactHead {
  name: string;
  step: number | undefined;
  kind: ArtifactKind;
  /** "" asks for a guess from the name; never "" once it was checked. */
  mediaType: string;
  metadata: ReadonlyMap<string, string>;
}

/** As it is sent in an envelope or in RecordArtifact: exactly one of `uri` and `content` is given. */
export interface ArtifactRecord extends ArtifactHead {
  uri: string | undefined;
  content: Uint8Array | undefined;
  /** Of a reference as its writer declared it; of content its own, once it was checked. */
  sha256: string | undefined;
  sizeBytes: number | undefined;
}

/** One whose content was uploaded before. */
export interface UploadedArtifact extends ArtifactHead {
  /** The holder of a pin on the blob; see BlobLedger. */
  pin: string;
  blob: { digest: string; sizeBytes: number };
}

/**
 * Everything about a record that can be checked without the store. Returns it in canonical form: with a
 * media type, canonical metadata in rising order of the keys, and the digest and size of inline content, so that
 * two records are the same exactly when these are. Throws `invalid` or, for sizes, `exhausted`.
 */
export function checkArtifactRecord(record: ArtifactRecord): ArtifactRecord {
  const head = checkArtifactHead(record);
  const { uri, content } = record;
  if ((uri === undefined) === (content === undefined)) {
    const given = uri === undefined ? "neither a URI nor content" : "both a URI and content";
    throw refusal(record.name, `it has ${given}`, "give exactly one of them; upload what is large");
  }
  if (content !== undefined) return { ...head, uri: undefined, content, ...checkedContent(record, content) };
  return { ...head, uri: checkedUri(record.name, uri!), content: undefined, ...checkedFacts(record) };
}

/** The part that uploads have too. */
export function checkArtifactHead(head: ArtifactHead): ArtifactHead {
  const name = checkArtifactName(head.name);
  return {
    name,
    step: head.step === undefined ? undefined : checkedStep(name, head.step),
    kind: head.kind,
    mediaType: checkedMediaType(head.mediaType, name),
    metadata: checkedMetadata(name, head.metadata),
  };
}

const STEP_MAX = 2 ** 53;

/** Throws `invalid` unless it is a whole number that points may have as their step. */
export function checkedStep(name: string, step: number): number {
  if (Number.isInteger(step) && Math.abs(step) <= STEP_MAX) return step + 0;
  throw new CairnError(
    "invalid",
    `cannot use step "${step}" of artifact ${quote(name)}: not an integer within 2^53`,
    {
      reason: "UNSAFE_INTEGER",
    },
  );
}

function checkedContent(
  { name, sha256, sizeBytes }: ArtifactRecord,
  content: Uint8Array,
): { sha256: string; sizeBytes: number } {
  const size = content.byteLength;
  if (size > limits.artifactInlineBytesMax) {
    throw new CairnError(
      "exhausted",
      `cannot record artifact ${quote(name)}: ${size} bytes are more than ${limits.artifactInlineBytesMax}`,
      {
        reason: "LIMIT_EXCEEDED",
        facts: { limit: String(limits.artifactInlineBytesMax) },
        hint: "upload it with PUT /artifacts/RUN_ID/NAME",
      },
    );
  }
  const digest = createHash("sha256").update(content).digest("hex");
  if ((sha256 !== undefined && sha256 !== digest) || (sizeBytes !== undefined && sizeBytes !== size)) {
    throw refusal(
      name,
      "its content differs from the announced SHA-256 or size",
      "leave SHA-256 and size out, or give the right ones",
      "DIGEST_MISMATCH",
    );
  }
  return { sha256: digest, sizeBytes: size };
}

function checkedFacts({ name, sha256, sizeBytes }: ArtifactRecord) {
  if (sha256 !== undefined && !isDigest(sha256)) {
    throw refusal(name, `${quote(sha256)} is not a SHA-256`, "write 64 lower-case hex digits");
  }
  if (sizeBytes !== undefined && !(Number.isSafeInteger(sizeBytes) && sizeBytes >= 0)) {
    throw refusal(name, `"${sizeBytes}" is not a size in bytes`, "leave it out when it is unknown");
  }
  return { sha256, sizeBytes };
}

function checkedUri(name: string, uri: string): string {
  if (uri === "") throw refusal(name, "its URI is empty", "say where it is, such as s3://bucket/key");
  return requireKey(uri, "artifact URI", limits.artifactUriBytesMax);
}

function checkedMetadata(name: string, metadata: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  if (metadata.size === 0) return NOTHING;
  const entries: [string, string][] = [];
  for (const [key, text] of metadata) {
    requireKey(key, "metadata key");
    entries.push([key, canonicalJson(text, `metadata ${quote(key)}`)]);
  }
  const what = `metadata of artifact ${quote(name)}`;
  requireText(joinObject(entries), limits.artifactMetadataBytesMax, what);
  entries.sort(([a], [b]) => compareCodePoints(a, b));
  return new Map(entries);
}

const NOTHING: ReadonlyMap<string, string> = new Map();

function refusal(name: string, cause: string, hint: string, reason?: string): CairnError {
  return new CairnError("invalid", `cannot record artifact ${quote(name)}: ${cause}`, {
    hint,
    ...(reason !== undefined && { reason }),
  });
}
