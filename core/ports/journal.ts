import type { EnvelopeAck, EnvelopeParts } from "../types/envelope.ts";
import type { SeriesPoints } from "../types/series.ts";
import type { AuditRecord } from "./access-store.ts";
import type { HostOwner, RunOwner } from "./point-store.ts";

/** What changed, as bits that may be added. Those from `purged` on are rare. Caches follow `purged` to `access`. */
export const CHANGED = {
  /** The run itself: created, changed, moved to or out of the trash, lost. */
  run: 1,
  points: 2,
  lines: 4,
  artifacts: 8,
  /** Destroyed for good. */
  purged: 16,
  /**
   * It was moved to another namespace; always with `run`. Without a run: a namespace was moved, or put into the trash or
   * taken out of it, with all that is in it.
   */
  moved: 32,
  /** Without a run: which namespaces there are, their objectives and capture policies. */
  namespaces: 64,
  /** Without a run: the content of the AccessStore. */
  access: 128,
  /** Points of series were destroyed; always with `points`. */
  deleted: 256,
} as const;

/** All kinds that concern single runs. */
export const CHANGED_RUNS =
  CHANGED.run |
  CHANGED.points |
  CHANGED.lines |
  CHANGED.artifacts |
  CHANGED.purged |
  CHANGED.moved |
  CHANGED.deleted;

/** The reason of a refused write that was checked in a namespace which the run has left. */
export const RUN_MOVED = "RUN_MOVED";

/** The entry point for envelopes, and the way to follow changes. */
export interface Journal extends JournalReader {
  /**
   * Applies envelopes, each as a whole or not at all, in the order given and in call order; the
   * outcomes are in the same order and one refusal does not affect the others. Per (run, writer):
   * seq = last + 1 (after the declared losses) is applied; a known seq with the same content answers
   * `duplicate`; with other content `exists` (SEQ_REUSED); a later one `precondition` (SEQ_GAP,
   * fact expected). One without a number is applied, unless it has `dropRepeated` and the run accepted one with equal content
   * that had it, too, within `repeatMs` of `nowUs` and among its last `repeatsPerRunMax`: it answers `duplicate`. Params
   * with `paramsOnce` that exist with another value: `precondition` (PARAM_WRITTEN). A series keeps its first kind:
   * another throws `invalid`. From the call on
   * the columns of `envelopes` are read-only for the caller and the store: watchers may still
   * be reading them long after. All content is compared, also the parts that `kept` leaves out.
   *
   * An envelope of a host has points only, and no number. It creates the host, and its namespace, where missing. Followers
   * are not notified of points of hosts: they have no change, and wake no subscriber.
   */
  append(envelopes: readonly AppendEnvelope[], nowUs: number): Promise<AppendOutcome[]>;
}

/**
 * Reports changes, in order. Every write that changes a run, a namespace or access gets a position, in the
 * transaction of the write. Positions rise, are never reused, and outlive a restart. They need not be adjacent.
 *
 * The journal remembers a bounded number of changes: those after `floor`.
 */
export interface JournalReader {
  /**
   * The position of the last change that was acknowledged here. However many points of hosts come, it keeps up with `floor`.
   * Costs nothing and waits for nothing: a read that begins after the call contains every change up to it. Another server
   * may have acknowledged later ones.
   */
  position(): number;
  /**
   * Changes after a position that are of one of these kinds (of CHANGED), with only these kinds; undefined returns
   * only where the journal is. Sees every write that was acknowledged before the call. The cost of reading only rare
   * kinds depends only on their number.
   */
  changesSince(position: number | undefined, kinds: number): Promise<JournalPart>;
  /**
   * Points of one run in the order they came, from envelopes after one position up to another; not all when they are
   * more than `pointsMax`, but at least one envelope where there is one. undefined where some of them are no longer kept in order of
   * arrival: they are in their series, but not in this order. The caller owns the arrays.
   */
  readPoints(request: ReadJournalPoints): Promise<JournalPoints | undefined>;
  /**
   * Calls `wake` when something may have changed, before the writer has its answer. A wake-up may be lost and may be
   * spurious. Returns how to unsubscribe.
   */
  subscribe(wake: () => void): () => void;
}

export interface JournalPart {
  /**
   * Identifies the journal: when it differs from before, every earlier position is invalid. It is a
   * secret, which can seal positions that clients see.
   */
  secret: string;
  /** Every change after this position is known. A position below it is too old. */
  floor: number;
  /** Of the last change of any kind. */
  position: number;
  /** The last one of each run and kind, rising by position; those of purged runs say only that. */
  changes: JournalChange[];
}

export interface JournalChange {
  position: number;
  /** "" for a change that concerns no single run. */
  runId: string;
  /** Where the run is or, once it is purged, was by the path of then; "" where there is none. */
  namespace: string;
  /** Of CHANGED. */
  what: number;
  /** With points: how many envelopes with points came since the requested position. */
  envelopes: number;
  /** The places that the run left since the requested position, rising; absent where it left none. */
  moves?: readonly RunMove[];
  /** Without a run: the namespaces that were moved since the position that was asked for, rising. With `moved` alone. */
  namespaceMoves?: readonly NamespaceMove[];
}

/**
 * A namespace that went, with all that is in it, from one path to another; to the same one where it went into the trash or out
 * of it.
 */
export interface NamespaceMove {
  from: string;
  to: string;
  position: number;
}

export interface RunMove {
  /** The namespace it left. */
  from: string;
  position: number;
}

export interface ReadJournalPoints {
  runId: string;
  after: number;
  upTo: number;
  pointsMax: number;
}

export interface JournalPoints {
  envelopes: EnvelopePoints[];
  /** Every envelope up to this position is in it. */
  upTo: number;
}

/** The points of one envelope. */
export interface EnvelopePoints {
  readonly position: number;
  readonly series: readonly SeriesPoints[];
}

export type AppendEnvelope = RunAppend | HostAppend;
export type RunAppend = RunOwner &
  AppendParts & {
    /**
     * Where the writer was checked: when the run is no longer there the envelope is refused with `precondition`
     * (RUN_MOVED), duplicates too, and nothing of it is stored. undefined for any namespace.
     */
    namespace?: string | undefined;
  };
export type HostAppend = HostOwner & AppendParts & { namespace?: undefined };

export interface AppendParts extends EnvelopeParts {
  /** Stored instead of `log`, `artifacts` and `change`, which then count for the digest only. */
  kept?: KeptParts | undefined;
  /**
   * The writer, as author of its artifacts. A change that overwrites something of a run that has ended is audited
   * with `change`, an artifact of another principal that is replaced with its record in `artifacts`.
   * Ordinary logging leaves no entry.
   */
  audit?: EnvelopeAudit | undefined;
}

export interface EnvelopeAudit {
  change: AuditRecord | undefined;
  /** One per artifact that is stored, in their order. */
  artifacts: readonly AuditRecord[];
}

export type KeptParts = Pick<EnvelopeParts, "log" | "artifacts" | "change">;

/** `position` is that of its change; undefined when nothing changed that followers are notified of. */
export type AppendOutcome =
  | { ok: true; ack: EnvelopeAck; position: number | undefined }
  | { ok: false; error: Error };
