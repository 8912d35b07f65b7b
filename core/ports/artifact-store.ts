import type { Artifact, ArtifactKind, ArtifactRecord, UploadedArtifact } from "../model/artifact.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/**
 * Keeps what is known about artifacts, and small content itself. Large content is in a BlobStore; this store only
 * knows which digests it needs. Acknowledged means durable, and what was acknowledged is in the next
 * read. Records come in as `checkArtifactRecord` and `checkArtifactHead` make them; they are not checked again.
 *
 * An artifact is named by run, name and step; `undefined` is a step of its own ("none"). Artifacts of a
 * purged run are gone with it. Methods that name a run throw `not-found` when it is not there.
 */
export interface ArtifactStore {
  /**
   * Replaces one of the same name and step as a whole. Throws `exhausted` (LIMIT_EXCEEDED) when the run
   * has artifactsPerRunMax and this would be one more.
   */
  putArtifact(runId: string, artifact: ArtifactRecord | UploadedArtifact, nowUs: number): Promise<Artifact>;
  /** With `step` undefined: the one without a step, or else the one of the highest step. */
  findArtifact(runId: string, name: string, step: number | undefined): Promise<Artifact | undefined>;
  /** Inline content. Throws `corrupt` when it is not what was stored; undefined when it is gone by now. */
  readContent(artifact: Artifact): Promise<Uint8Array | undefined>;
  /** By name in code-point order, then by step, none first. */
  listArtifacts(request: ListArtifacts): Promise<ListPart<Artifact>>;
  /**
   * Deletes one step of a name, or every step for undefined, and everything bound to the name when no step
   * is left. Returns how many; the audit record is written in the same transaction, and only when there
   * were any.
   */
  deleteArtifact(runId: string, name: string, step: number | undefined, audit: AuditRecord): Promise<number>;

  /** The digests that artifacts have, each once with one of its artifacts, rising from after `after`. */
  listUsedBlobs(page: { after: string | undefined; limit: number }): Promise<Artifact[]>;
  /** Digests whose last artifact is gone, in no order. */
  listUnusedBlobs(limit: number): Promise<string[]>;
  /** Those of the digests that an artifact has at this moment. */
  findUsedBlobs(digests: readonly string[]): Promise<string[]>;
  /** Their content is destroyed: they need not be listed as unused any more. */
  forgetUnusedBlobs(digests: readonly string[]): Promise<void>;
}

export interface ListArtifacts extends PartBound {
  runId: string;
  prefix: string;
  kind: ArtifactKind | undefined;
  /** Inclusive; artifacts without a step come only when both are undefined. */
  fromStep: number | undefined;
  toStep: number | undefined;
  after: { name: string; step: number | undefined } | undefined;
}
