import type { CapturePolicy } from "../types/capture.ts";
import type { KeyDescription, Namespace, NamespaceRef, Objective } from "../types/namespace.ts";
import type { Tags } from "../types/run.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/** Holds namespaces, with what is set on them. Transactions, order, limits and records as for RunStore. */
export interface NamespaceStore {
  /** Creates the namespace and its missing parents; none forbids anything. Throws `exists` when the path is taken. */
  createNamespace(namespace: NewNamespace, audit?: AuditRecord): Promise<Namespace>;
  findNamespace(ref: NamespaceRef): Promise<Namespace | undefined>;
  /** Rising by path (code points of the path with "/" lowest, so parents come before children). */
  listNamespaces(
    page: PartBound & { under: string; after: string | undefined },
  ): Promise<ListPart<Namespace>>;
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
   * Throws `not-found`, or `precondition` while it holds runs or children. What was bound or closed on it
   * and below goes with it.
   */
  deleteNamespace(path: string, audit: AuditRecord): Promise<void>;
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

  /** Inserts or replaces the description of (namespace, key). The record is written when that changed something. */
  describeKey(description: KeyDescription, audit?: AuditRecord): Promise<void>;
  /**
   * Those of the namespaces, which are a namespace and ancestors of it; a nearer one hides a farther one. Rising by
   * key in code-point order, from behind `after`.
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

/** The store gives it an id. */
export type NewNamespace = Omit<Namespace, "id" | "capture">;

/** What changes of a namespace; absent means: leave as it is. */
export interface NamespaceChange extends Partial<CapturePolicy> {
  description?: string;
  objective?: Objective | null;
  tags?: Tags;
  /** Removed before `tags` are added. */
  removeTags?: readonly string[];
}
