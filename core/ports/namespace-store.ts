import type { CapturePolicy } from "../types/capture.ts";
import type { KeyDescription, Namespace, NamespaceRef, Objective } from "../types/namespace.ts";
import type { Tags } from "../types/run.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/** Holds namespaces, with their settings. Transactions, order, limits and records as for RunStore. */
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
   * Throws `not-found`, or `precondition` while it holds runs or children. Bindings and closures on it
   * and below are deleted with it.
   */
  deleteNamespace(path: string, audit: AuditRecord): Promise<void>;

  /** Inserts or replaces the description of (namespace, key). The record is written when that changed something. */
  describeKey(description: KeyDescription, audit?: AuditRecord): Promise<void>;
  /**
   * Those of the namespaces, which are a namespace and ancestors of it; a nearer one hides a farther one. Rising by
   * key in code-point order, after `after`.
   */
  listKeys(
    namespaces: readonly string[],
    page: PartBound & { after: string | undefined },
  ): Promise<ListPart<KeyDescription>>;
}

/** The store assigns its id. */
export type NewNamespace = Omit<Namespace, "id" | "capture">;

/** Changes of a namespace; absent fields are not changed. */
export interface NamespaceChange extends Partial<CapturePolicy> {
  description?: string;
  objective?: Objective | null;
  tags?: Tags;
  /** Removed before `tags` are added. */
  removeTags?: readonly string[];
}
