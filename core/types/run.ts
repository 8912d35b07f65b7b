import type { RunStatus } from "#lang/statuses.ts";
import type { Provenance, ProvenanceChange } from "./provenance.ts";

/** Param values are canonical JSON text (see lang/json/canonical.ts); tags are plain text. */
export type Params = ReadonlyMap<string, string>;
export type Tags = ReadonlyMap<string, string>;

export interface Run {
  id: string;
  namespace: string;
  name: string;
  aliases: readonly string[];
  status: RunStatus;
  notes: string;
  params: Params;
  tags: Tags;
  provenance: Provenance | undefined;
  createdUs: number;
  startedUs: number | undefined;
  endedUs: number | undefined;
  updatedUs: number;
  /** Set while the run is in the trash. */
  deletedUs: number | undefined;
  /** Names of principals (`changedBy` below says of which changes); "" where that is unknown, and where the server did it. */
  creator: string;
  endedBy: string;
  changedBy: string;
  deletedBy: string;
  /** Time of the last heartbeat of a writer; undefined before the first. */
  lastHeardUs?: number | undefined;
  /** The heartbeat interval that its writer promised; undefined for no promise. */
  heartbeatSeconds?: number | undefined;
  /** Set where params, tags, notes and provenance are so large that the store left them out: how large they are. */
  leftOutBytes?: number | undefined;
}

/** The changes of an update; absent fields are not changed. */
export interface RunChange extends ProvenanceChange {
  status?: RunStatus;
  name?: string;
  notes?: string;
  params?: Params;
  tags?: Tags;
  removeParams?: readonly string[];
  removeTags?: readonly string[];
  addAliases?: readonly string[];
  /** Existing params and tags are not changed. */
  onlyIfAbsent?: boolean;
  /**
   * For a wire whose params are written once: a param that the run has with another value throws `precondition`
   * (PARAM_WRITTEN, fact key), and nothing of the change or its envelope is stored. Values are the same when their JSON
   * text is: 1 and 1.0 are different. Checked before `onlyIfAbsent`, against the run before `removeParams`.
   */
  paramsOnce?: true;
  endedUs?: number;
  heartbeatSeconds?: number;
}
