import type { CapturePolicy } from "../types/capture.ts";
import type { KeyDescription, Namespace, NamespaceRef, Objective } from "../types/namespace.ts";
import type { Tags } from "../types/run.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/** Holds namespaces, with their settings. Transactions, order, limits and records as for RunStore. */
export interface NamespaceStore {
  /**
   * Creates the namespace and its missing parents; none forbids anything. Throws `exists` when the path is taken.
   *
   * What writes into a namespace that is in the trash throws `precondition` (NAMESPACE_DELETED): this call, and those of the other
   * ports that create, change or move something in it. Reading and destroying still work.
   */
  createNamespace(namespace: NewNamespace, audit?: AuditRecord): Promise<Namespace>;
  findNamespace(ref: NamespaceRef): Promise<Namespace | undefined>;
  /**
   * Those outside the trash, or with `trashed` those in it. Rising by path (code points of the path with "/" lowest, so
   * parents come before children).
   */
  listNamespaces(
    page: PartBound & { under: string; after: string | undefined; trashed?: boolean },
  ): Promise<ListPart<Namespace>>;
  /**
   * Puts a namespace with everything in it and below it into the trash (a time) or takes it out (undefined), in a transaction that
   * costs as much as there are namespaces below. Doing it twice changes nothing. What was in the trash by itself stays there. Throws
   * `not-found`, and `precondition` (NAMESPACE_DELETED, fact `namespace`) where one above it is in the trash.
   */
  trashNamespace(path: string, deletedUs: number | undefined, audit: AuditRecord): Promise<Namespace>;
  /** Some runs in the namespace and below it, also in the trash: all of them when they are fewer than `limit`. */
  listRunsWithin(path: string, limit: number): Promise<{ id: string; namespace: string }[]>;
  /** Objectives that are set on these very namespaces, by path; those without one are left out. */
  findObjectives(paths: readonly string[]): Promise<[path: string, objective: Objective][]>;
  /**
   * Throws `not-found`, and `exhausted` for too many tags. `objective: null` removes it; tags are merged per key. The record
   * is written when something changed.
   */
  updateNamespace(path: string, change: NamespaceChange, audit?: AuditRecord): Promise<Namespace>;
  /** Those of all namespaces that forbid something themselves, by path. */
  listCapturePolicies(): Promise<[path: string, policy: CapturePolicy][]>;
  /**
   * Destroys a namespace. Throws `not-found`, or `precondition` while it holds runs or children, and with `onlyTrashed` when it is not
   * in the trash (NOT_IN_TRASH). Bindings and closures on it and below are deleted with it.
   */
  deleteNamespace(path: string, audit: AuditRecord, options?: { onlyTrashed?: boolean }): Promise<void>;
  /**
   * Gives a namespace and everything below it the path `to` instead of `from`; missing parents of `to` are created. All keep
   * their ids and what they have; what is bound or closed on them, and tokens that are limited to them, go along. It costs as
   * much as there are namespaces and rows of access below, however many runs are in them. `to` is neither `from`
   * nor below it, and nothing is bound or closed there.
   *
   * Does nothing and returns undefined when access may have changed after the position `accessAt` of the Journal. Throws
   * `not-found` without a namespace `from`, `exists` when there is one at `to`, `invalid` when a path below would break a limit.
   */
  moveNamespace(
    from: string,
    move: MoveNamespace,
    nowUs: number,
    audit: AuditRecord,
  ): Promise<Namespace | undefined>;

  /**
   * Inserts or replaces the description of (namespace, key). With `absentIn`, namespaces as those of `listKeys`, it only fills
   * in what the nearest of theirs does not say. The record is written when that changed something. Returns the description
   * that holds then.
   */
  describeKey(
    description: KeyDescription,
    audit?: AuditRecord,
    absentIn?: readonly string[],
  ): Promise<KeyDescription>;
  /**
   * Those of the namespaces, which are a namespace and ancestors of it; a nearer one hides a farther one. Rising by
   * key in code-point order, after `after`.
   */
  listKeys(
    namespaces: readonly string[],
    page: PartBound & { after: string | undefined },
  ): Promise<ListPart<KeyDescription>>;
}

export interface MoveNamespace {
  to: string;
  accessAt: number;
}

/** The store assigns its id. */
export type NewNamespace = Omit<Namespace, "id" | "capture" | "deletedUs">;

/** Changes of a namespace; absent fields are not changed. */
export interface NamespaceChange extends Partial<CapturePolicy> {
  description?: string;
  objective?: Objective | null;
  tags?: Tags;
  /** Removed before `tags` are added. */
  removeTags?: readonly string[];
}
