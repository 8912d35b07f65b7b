import type { JsonValue } from "#lang/json/write.ts";
import type { AppRun } from "./app-run.ts";

/** Names of trackers, joined by commas. */
export const ENV_TORCHX_TRACKERS = "TORCHX_TRACKERS";
/** The run a job was made from. */
export const ENV_TORCHX_PARENT_RUN_ID = "TORCHX_PARENT_RUN_ID";
/** The handle of the job: `scheduler://session/app`. */
export const ENV_TORCHX_JOB_ID = "TORCHX_JOB_ID";

/**
 * Metadata as it is read. Numbers keep their value: an integer beyond 2^53 is a bigint, never a number that is
 * nearly right; every other number, also a small integer that was given as a bigint, is a number. `1.0` that another
 * language wrote is read as 1, because numbers of this language cannot distinguish the two.
 */
export type MetadataValue = JsonValue;

/** Metadata to add: what `metadata()` returned may be added again. */
export type Metadata = Readonly<Record<string, unknown>> | ReadonlyMap<string, unknown>;

/** A link from a run to what it was made from, as a tracker knows it. */
export class TrackerSource {
  /** Another TorchX handle, or the id of anything else. */
  readonly sourceRunId: string;
  /** Through which artifact, or as what. */
  readonly artifactName: string | null;

  constructor(sourceRunId: string, artifactName: string | null = null) {
    this.sourceRunId = sourceRunId;
    this.artifactName = artifactName;
  }
}

/** Something a run made, and where it is. */
export class TrackerArtifact {
  readonly name: string;
  readonly path: string;
  /** null when none was given. */
  readonly metadata: ReadonlyMap<string, MetadataValue> | null;

  constructor(name: string, path: string, metadata: ReadonlyMap<string, MetadataValue> | null = null) {
    this.name = name;
    this.path = path;
    this.metadata = metadata;
  }
}

/** A link from a run to what it was made from, as a job sees it. */
export class AppRunTrackableSource {
  readonly parent: AppRun;
  readonly artifactName: string | null;

  constructor(parent: AppRun, artifactName: string | null = null) {
    this.parent = parent;
    this.artifactName = artifactName;
  }
}

/** A run that a lineage reaches. */
export interface LineageRun {
  readonly runId: string;
  /** How many links away: 1 is a direct source, or a run made directly from this one. */
  readonly distance: number;
  /** Those that links name, and models, where the tracker knows them. */
  readonly artifacts: readonly TrackerArtifact[];
}

/** One link of a lineage. */
export interface LineageLink {
  /** The run that was made. */
  readonly runId: string;
  /** What it was made from. */
  readonly sourceRunId: string;
  readonly artifactName: string | null;
}

export interface LineageParts {
  ancestors?: readonly LineageRun[];
  descendants?: readonly LineageRun[];
  links?: readonly LineageLink[];
  artifacts?: ReadonlyMap<string, TrackerArtifact>;
  hiddenCount?: number;
  truncated?: boolean;
}

/** Where a run came from and what was made of it. One without parts is empty. */
export class Lineage {
  /** Everything the run depends on, nearest first; each once, also in a cycle. */
  readonly ancestors: readonly LineageRun[];
  /** Everything that was made from it, nearest first. */
  readonly descendants: readonly LineageRun[];
  /** What links the run, its ancestors and its descendants. */
  readonly links: readonly LineageLink[];
  /** Of the run itself, by name. */
  readonly artifacts: ReadonlyMap<string, TrackerArtifact>;
  /** How many there are that the caller may not see. */
  readonly hiddenCount: number;
  /** Whether a limit cut something off. */
  readonly truncated: boolean;

  constructor(parts: LineageParts = {}) {
    this.ancestors = parts.ancestors ?? [];
    this.descendants = parts.descendants ?? [];
    this.links = parts.links ?? [];
    this.artifacts = parts.artifacts ?? new Map();
    this.hiddenCount = parts.hiddenCount ?? 0;
    this.truncated = parts.truncated ?? false;
  }
}

/** Filters of runs; null and undefined are ignored. Other filters depend on the tracker. */
export interface RunIdFilters {
  /** Only runs that were made directly from this one. */
  readonly parentRunId?: string | null | undefined;
  readonly [filter: string]: string | null | undefined;
}

/**
 * A tracking system. These are the eight methods of TorchX's TrackerBase; `conformance.ts` tests whether an
 * implementation follows this contract.
 *
 * Any number of processes may write to one run at once. A run needs no creating: the first write makes it. Reading a
 * run that was never written returns an empty result, never an error. Run ids and source ids are any text. Writes may
 * fail, by rejecting; an `AppRun` hides that from the job. Maps have no particular order by default.
 */
export abstract class TrackerBase {
  /** One of the same name is replaced, as far as readers see. */
  abstract addArtifact(runId: string, name: string, path: string, metadata?: Metadata | null): Promise<void>;

  /** By name. */
  abstract artifacts(runId: string): Promise<ReadonlyMap<string, TrackerArtifact>>;

  /** Merges per key; the last write of a key wins. */
  abstract addMetadata(runId: string, metadata: Metadata): Promise<void>;

  abstract metadata(runId: string): Promise<ReadonlyMap<string, MetadataValue>>;

  /**
   * Adding a link again changes nothing, also when every rank of a job does it at once. `sourceId` need not be known
   * here. Jobs add their parent while they start, so this should be cheap and must not fail for a link that is there.
   */
  abstract addSource(runId: string, sourceId: string, artifactName?: string | null): Promise<void>;

  /** With `artifactName` only links through exactly that name, never those without one. */
  abstract sources(runId: string, artifactName?: string | null): Promise<readonly TrackerSource[]>;

  /** All that the run depends on, and all that was made from it. */
  abstract lineage(runId: string): Promise<Lineage>;

  /** All of them: there are no pages. */
  abstract runIds(filters?: RunIdFilters): Promise<readonly string[]>;
}

/** Makes a tracker from its configuration: any text, or null where there is none. */
export type TrackerFactory = (config: string | null) => TrackerBase | Promise<TrackerBase>;

/** Called with problems that are not fatal. */
export type ReportProblem = (message: string) => void;

/** The entries of metadata, whichever way it was given. */
export function metadataEntries(metadata: Metadata): [string, unknown][] {
  return metadata instanceof Map ? [...(metadata as ReadonlyMap<string, unknown>)] : Object.entries(metadata);
}
