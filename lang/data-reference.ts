import { CairnError, quote } from "./errors.ts";

/**
 * A reference to data that a run used, in provenance: a location, and after "@" its version or digest. Such as
 * "s3://data/c4", "s3://data/c4@v3", "hf://squad@sha256:0a1b…" and "git@example.org:team/features.git@4f2a91c".
 */
export interface DataReference {
  location: string;
  /** "" where none is known. A digest is "sha256:" and its digits. */
  version: string;
}

export interface DataVersion {
  version?: string | undefined;
  /** With or without "sha256:". */
  digest?: string | undefined;
}

const DIGEST = /^(?:sha256:)?([0-9a-f]{64})$/i;

/** Throws `invalid` for a version that could not be read back, an invalid digest, and both at once. */
export function joinDataReference(location: string, { version, digest }: DataVersion = {}): string {
  if (location === "") throw refusal(location, "its location is empty");
  if (version !== undefined && digest !== undefined) throw refusal(location, "it has a version and a digest");
  const after = digest === undefined ? version : checkedDigest(location, digest);
  if (after === undefined) return location;
  if (after === "" || /[/@]/.test(after)) {
    throw refusal(location, `version ${quote(after)} is empty or has a "/" or "@"`);
  }
  return `${location}@${after}`;
}

/** The version is what follows the last "@", unless that is empty or has a "/", or nothing precedes it. */
export function splitDataReference(text: string): DataReference {
  const at = text.lastIndexOf("@");
  const version = text.slice(at + 1);
  if (at <= 0 || version === "" || version.includes("/")) return { location: text, version: "" };
  return { location: text.slice(0, at), version };
}

function checkedDigest(location: string, digest: string): string {
  const hex = DIGEST.exec(digest)?.[1];
  if (hex === undefined) throw refusal(location, `digest ${quote(digest)} is not a SHA-256 in hexadecimal`);
  return `sha256:${hex.toLowerCase()}`;
}

function refusal(location: string, cause: string): CairnError {
  return new CairnError("invalid", `cannot refer to data ${quote(location)}: ${cause}`);
}
