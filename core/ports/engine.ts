import type { AuditRecord } from "./access-store.ts";

/** The engine that stores the data of the other ports, as a whole. */
export interface Engine {
  info(): Promise<StoreInfo>;
  /** A small durable map for the server itself, such as the hash of the admin token. */
  getSetting(name: string): Promise<string | undefined>;
  /** Sets the value only where there is none, and returns the stored one. */
  initSetting(name: string, value: string): Promise<string>;
  /** Finishes accepted calls, then releases everything. Later calls throw `unavailable`. */
  close(): Promise<void>;
  /** Capabilities of some engines; absent where this one does not have them. */
  readonly copies?: EngineCopies;
  readonly integrity?: EngineIntegrity;
}

/** An engine that can be copied to a file and replaced by such a copy. */
export interface EngineCopies {
  /**
   * A consistent copy into `file`, which must not exist, while reads and writes continue. The record is durable before
   * the copy begins, and in it: no copy is made without an audit entry.
   */
  backup(file: string, audit?: AuditRecord): Promise<void>;
  /**
   * Replaces everything by a copy made with `backup`. Calls wait meanwhile. Followers of the journal start from the
   * beginning. The current state is first copied into the file `keepAside`, which must not exist.
   *
   * The audit alone is not replaced: it continues from its last entry, with `audit` added. A token that was
   * revoked since the copy was made stays revoked.
   */
  restore(file: string, options: { keepAside?: string; audit: AuditRecord }): Promise<void>;
}

/** An engine that has checksums of its own. */
export interface EngineIntegrity {
  /** Reads everything, checks every checksum. At most PROBLEMS_MAX problems. */
  checkIntegrity(signal?: AbortSignal): Promise<{ points: number; runs: number; problems: string[] }>;
}

/** How many sentences about damage one answer has. */
export const PROBLEMS_MAX = 100;

export interface StoreInfo {
  engine: string;
  formatVersion: number;
  runs: number;
  series: number;
  points: number;
  sizeBytes: number;
}
