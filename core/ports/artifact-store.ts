import type {
  Artifact,
  ArtifactKind,
  ArtifactRecord,
  ReplacedArtifact,
  UploadedArtifact,
} from "../types/artifact.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/**
 * Keeps records of artifacts, and small content itself. Large content is in a BlobStore; the BlobLedger of the same
 * store knows which digests are needed. Acknowledged means durable, and what was acknowledged is in the next
 * read. Records are passed as `checkArtifactRecord` and `checkArtifactHead` make them; they are not checked again.
 *
 * Content that is replaced or deleted is kept for a while as a *version*: a blob is in use as long as an artifact or
 * a version has it. Of what a principal overwrote itself only the last version is kept; the bounds are
 * limits.replaced…, and within a run a principal's own are destroyed first. Bindings on a name exist as long as
 * there is an artifact or a version of it.
 *
 * An artifact is named by run, name and step; `undefined` is a step of its own ("none"). Artifacts of a
 * purged run are deleted with it. Methods that name a run throw `not-found` when it does not exist.
 */
export interface ArtifactStore {
  /**
   * Replaces one of the same name and step as a whole. The pin of uploaded content is removed in the same transaction;
   * throws `aborted` (PIN_ENDED) when it no longer exists. Throws `exhausted` (LIMIT_EXCEEDED) when the run
   * has artifactsPerRunMax and this would be one more. The principal of the audit record is the author; the record
   * itself is written only when other content was replaced, with its author and version as facts. Of the same content
   * author and time stay.
   */
  putArtifact(
    runId: string,
    artifact: ArtifactRecord | UploadedArtifact,
    nowUs: number,
    audit?: AuditRecord,
  ): Promise<Artifact>;
  /** With `step` undefined: the one without a step, or else the one of the highest step. */
  findArtifact(runId: string, name: string, step: number | undefined): Promise<Artifact | undefined>;
  /**
   * In the order of `places`, each of exactly its step; missing ones, also of missing runs, are left out. Ends before the artifact whose texts
   * would make all of them more than `bytesMax`, but for the first; `looked` is how many of the places were
   * read, at least one where there is one.
   */
  getArtifacts(
    places: readonly ArtifactPlaceInRun[],
    bytesMax: number,
  ): Promise<{ artifacts: Artifact[]; looked: number }>;
  /** Inline content. Throws `corrupt` when it differs from what was stored; undefined when it no longer exists. */
  readContent(artifact: Artifact): Promise<Uint8Array | undefined>;
  /** By name in code-point order, then by step, none first. */
  listArtifacts(request: ListArtifacts): Promise<ListPart<Artifact>>;
  /**
   * Makes a version of one step of a name, or of every step for undefined. Returns how many; the audit record is
   * written in the same transaction, and only when there were any.
   */
  deleteArtifact(runId: string, name: string, step: number | undefined, audit: AuditRecord): Promise<number>;

  /**
   * Versions, newest first. They are numbered rising for each name of a run, so that a number discloses nothing of other names,
   * and no number is reused as long as there is an artifact or a version of the name.
   */
  listReplaced(request: ListReplaced): Promise<ListPart<ReplacedArtifact>>;
  /**
   * Makes a version an artifact again, with its author and time; what has its name and step now becomes a version.
   * Throws `not-found`, or `exhausted` as putArtifact.
   */
  restoreReplaced(
    version: { runId: string; name: string; version: number },
    nowUs: number,
    audit: AuditRecord,
  ): Promise<Artifact>;
  /**
   * Destroys the versions of a run, or of one name; the record is written when there were any. Returns how many.
   * Bindings and closures on names without any artifact or version are deleted with them.
   */
  purgeReplaced(runId: string, name: string | undefined, audit: AuditRecord): Promise<number>;
  /** The same with versions that were replaced before a time, at most `limit` of them. */
  expireReplaced(beforeUs: number, limit: number): Promise<number>;
}

/** Identifies an artifact in the store. */
export type ArtifactPlaceInRun = Pick<Artifact, "runId" | "name" | "step">;

/** Where a version is in the list. */
export type VersionPlace = Pick<ReplacedArtifact, "replacedUs" | "name" | "version">;

export interface ListReplaced extends PartBound {
  runId: string;
  prefix: string;
  /** Only versions after this one, which need not exist any more; undefined for all. */
  after: VersionPlace | undefined;
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
