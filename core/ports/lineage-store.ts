import type { Artifact } from "../types/artifact.ts";
import type { AuditRecord } from "./access-store.ts";
import type { ListPart, PartBound } from "./list-part.ts";

/**
 * Keeps links from runs to their sources. The far end of a link, its *source*, is a text: the
 * id of a run, or the name of anything else. Whether it is a run is decided again at each read, so a link
 * outlives the run it names; it is deleted with its child.
 *
 * A source that was given `byText` is the id of a run that its giver could not find. A link of this kind and one to
 * the run may be side by side: a caller that cannot read the run must not notice the other.
 *
 * Texts and artifact names are compared byte for byte; "" as artifact means none. A link exists at
 * most once per child, source, artifact and kind, however many callers add it at the same time. Acknowledged
 * means durable, and what was acknowledged is in the next read. Links are numbered in the order they were
 * added; a number is never reused.
 *
 * Links with a role follow the provenance of their run, in the transaction that changes it. They are counted and removed by
 * none of the methods here.
 */
export interface LineageStore {
  /**
   * Adds the link unless it exists, of either kind, or `beside` one of the other kind; then `createdUs` is the
   * time of the first. Throws `not-found` for an unknown child, and `exhausted` when it has sourcesPerRunMax links and
   * this would be one more. The audit record is written only with a new link.
   */
  addSource(
    link: NewLink & { beside?: boolean },
    audit?: AuditRecord,
  ): Promise<{ created: boolean; createdUs: number }>;
  /**
   * Removes the links of a run to any of these texts through this artifact, or of those the ones `byTextOnly`. Returns how many there were;
   * the audit record is written in the same transaction, and only when there were any.
   */
  removeSource(
    link: { childId: string; sources: readonly string[]; artifact: string; byTextOnly?: boolean },
    audit: AuditRecord,
  ): Promise<number>;
  /** Links of one run, rising by number. An unknown run has none. */
  listSources(request: ListLinks & { childId: string }): Promise<ListPart<Link>>;
  /** Links to any of these texts, or of those the ones `byTextOnly`, rising by number. */
  listChildren(
    request: ListLinks & { sources: readonly string[]; byTextOnly?: boolean },
  ): Promise<ListPart<Link>>;
  /**
   * Links of many at once: those whose child, or whose source, is one of `ids`, in the order of `ids`,
   * then by number. `among` keeps only those whose other end is in it.
   */
  readLinks(request: ReadLinks, signal?: AbortSignal): Promise<ListPart<Link>>;
  /**
   * Per entry, in the order asked for: of each name the artifact without a step, or else the one of the
   * highest step; then up to `modelsMax` of kind model by name and step. None twice; missing ones are
   * left out. Stops after `artifactsMax` in all, and before `bytesMax` of their texts; `more` is true when
   * one of the three cut something off.
   */
  readLinkedArtifacts(request: ReadLinkedArtifacts): Promise<{ artifacts: Artifact[][]; more: boolean }>;
}

export interface NewLink {
  childId: string;
  source: string;
  artifact: string;
  createdUs: number;
  byText?: boolean;
}

export interface Link extends Required<NewLink> {
  number: number;
  childNamespace: string;
  /** Of the run whose id, or with a role alias, `source` is; undefined when there is no such run. */
  sourceNamespace: string | undefined;
  /** Given by text, with the same link of the other kind beside it. */
  isDouble: boolean;
  /** One of SOURCE_ROLES for a link that follows the provenance of the child, which is by text; absent for others. */
  role?: number;
  /** With a role, the id of the run in the namespace of the child whose alias `source` is; absent where it is an id, or no run's. */
  sourceRun?: string;
}

export interface ListLinks extends PartBound {
  /** Only links through exactly this artifact; undefined for all. */
  artifact: string | undefined;
  /** Only links with a higher number. */
  after: number;
  /** Also links with a role. */
  withRoles?: boolean;
}

export interface ReadLinks extends PartBound {
  ids: readonly string[];
  /** Which end of the link `ids` are. */
  end: "child" | "source";
  among: readonly string[] | undefined;
}

export interface ReadLinkedArtifacts {
  wanted: readonly { runId: string; names: readonly string[] }[];
  modelsMax: number;
  artifactsMax: number;
  bytesMax: number;
}
