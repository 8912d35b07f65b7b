/** Artifacts as core passes them to a store. */
import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { AuditRecord } from "#core/ports/access-store.ts";
import {
  checkArtifactHead,
  checkArtifactRecord,
  type Artifact,
  type ArtifactRecord,
  type UploadedArtifact,
} from "#core/types/artifact.ts";
import type { StoresUnderTest } from "./stores.ts";

const PLAIN = {
  name: "file.bin",
  step: undefined,
  kind: "file",
  mediaType: "",
  metadata: new Map<string, string>(),
} as const;

export function digestOf(content: string): string {
  return createHash("sha256").update(content).digest("hex");
}

export function reference(parts: Partial<ArtifactRecord> = {}): ArtifactRecord {
  return checkArtifactRecord({
    ...PLAIN,
    uri: "s3://bucket/key",
    content: undefined,
    sha256: undefined,
    sizeBytes: undefined,
    ...parts,
  });
}

export function inline(content: string | Uint8Array, parts: Partial<ArtifactRecord> = {}): ArtifactRecord {
  return reference({ uri: undefined, content: Buffer.from(content), ...parts });
}

/** As if this content had been uploaded. */
export function uploaded(content: string, parts: Partial<UploadedArtifact> = {}): UploadedArtifact {
  const blob = { digest: digestOf(content), sizeBytes: Buffer.byteLength(content) };
  const { blob: given = blob, pin = "uploader", ...head } = parts;
  return { ...checkArtifactHead({ ...PLAIN, ...head }), blob: given, pin };
}

/** Attaches uploaded content as core does. */
export async function putUploaded(
  { artifacts, blobLedger }: Pick<StoresUnderTest, "artifacts" | "blobLedger">,
  run: string,
  artifact: UploadedArtifact,
  nowUs: number,
  audit?: AuditRecord,
): Promise<Artifact> {
  expect(await blobLedger.pinBlob(artifact.blob.digest, artifact.pin, nowUs, nowUs + 1)).toBe(true);
  return artifacts.putArtifact(run, artifact, nowUs, audit);
}
