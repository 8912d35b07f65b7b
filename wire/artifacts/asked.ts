import { isRunId } from "#base/run-id.ts";
import type { AskedArtifact } from "#core/artifacts/artifacts.ts";
import type { UploadHead } from "#core/artifacts/uploads.ts";
import { CairnError, quote } from "#lang/errors.ts";
import { ARTIFACT_KINDS, type ArtifactKind } from "#core/types/artifact.ts";
import { canonicalJson } from "#lang/json/canonical.ts";
import { splitObject } from "#lang/json/object-text.ts";
import type { HttpRequest } from "#wire/kit/http.ts";
import { contentTypeOf, type Call } from "#wire/kit/router.ts";

/** Content types that tell nothing about the content. */
const UNTYPED = new Set(["", "application/octet-stream", "binary/octet-stream"]);

/** Which artifact a request is about. Throws `invalid`. */
export function askedArtifact({ params, query }: Call, known: readonly string[] = ["step"]): AskedArtifact {
  for (const key of query.keys()) {
    if (known.includes(key) && query.getAll(key).length === 1) continue;
    throw new CairnError("invalid", `cannot use query parameter ${quote(key)}: unknown or duplicate`, {
      hint: `this route supports ${known.join(" and ")}`,
    });
  }
  const id = params.get("run")!;
  if (!isRunId(id)) {
    throw new CairnError("invalid", `cannot use run id ${quote(id)}: it is not 32 lower-case hex digits`);
  }
  return { run: { by: "id", id }, name: params.get("name")!, step: stepOf(query.get("step")) };
}

/** The metadata of an upload. Throws `invalid`. */
export function uploadHead({ query, request }: Call, { name, step }: AskedArtifact): UploadHead {
  return {
    name,
    step,
    kind: kindOf(query.get("kind")),
    mediaType: mediaTypeOf(request),
    metadata: metadataOf(headerOf(request, "x-cairn-metadata")),
  };
}

/** One value of a header; undefined when there is none. */
export function headerOf(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function stepOf(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (/^-?\d{1,16}$/.test(text) && BigInt(Number(text)) === BigInt(text)) return Number(text);
  throw new CairnError("invalid", `cannot use step ${quote(text)}: it is not an integer within 2^53`);
}

function kindOf(text: string | null): ArtifactKind {
  if (text === null) return "file";
  const kind = ARTIFACT_KINDS.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw new CairnError(
    "invalid",
    `cannot use kind ${quote(text)}: it is not among ${ARTIFACT_KINDS.join(", ")}`,
  );
}

/** "" to have it guessed from the name. */
function mediaTypeOf(request: HttpRequest): string {
  const header = headerOf(request, "content-type") ?? "";
  return UNTYPED.has(contentTypeOf(header)) ? "" : header.trim();
}

/** A JSON object. */
function metadataOf(header: string | undefined): ReadonlyMap<string, string> {
  if (header === undefined || header === "") return new Map();
  if (/[^\x20-\x7e]/.test(header)) {
    throw new CairnError("invalid", `cannot use metadata ${quote(header)}: a header holds ASCII only`, {
      hint: "write other characters as \\u escapes",
    });
  }
  const text = canonicalJson(header, "metadata");
  if (text.startsWith("{")) return splitObject(text);
  throw new CairnError("invalid", `cannot use metadata ${quote(header)}: it is not a JSON object`);
}
