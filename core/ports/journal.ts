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
  /** It is in another namespace now; always with `run`. Without a run: a namespace was moved, or went into the trash or out of it, with all that is in it. */
  moved: 32,
  /** Without a run: which namespaces there are, their objectives and capture policies. */
  namespaces: 64,
  /** Without a run: what the AccessStore holds. */
  access: 128,
  /** Points of series were destroyed; always with `points`. */
  deleted: 256,
} as const;

/** All that concerns single runs. */
export const CHANGED_RUNS =
  CHANGED.run |
  CHANGED.points |
  CHANGED.lines |
  CHANGED.artifacts |
  CHANGED.purged |
  CHANGED.moved |
  CHANGED.deleted;

/** The reason of a write that was judged in a namespace where the run is not any more. */
export const RUN_MOVED = "RUN_MOVED";

/** The way in for envelopes, and the way to follow what changed. */
export interface Journal extends JournalReader {
  /**
   * Applies envelopes, each as a whole or not at all, in the order given and in call order; the
   * outcomes come in the same order and one refusal does not touch the others. Per (run, writer):
   * seq = last + 1 (after the declared losses) is applied; a known seq with the same content answers
   * `duplicate`; with other content `exists` (SEQ_REUSED); beyond the next `precondition` (SEQ_GAP,
   * fact expected). One without a number is applied, unless it has `dropRepeated` and the run took one with equal content
   * that had it, too, within `repeatMs` of `nowUs` and among its last `repeatsPerRunMax`: it answers `duplicate`. Params
   * with `paramsOnce` that are there with another value: `precondition` (PARAM_WRITTEN). A series keeps its first kind:
   * another throws `invalid`. From the call on
   * the columns of `envelopes` are read-only for the caller and the store: watchers may still
   * be reading them long after. Whether content is the same is judged by all of it, also by what `kept` leaves out.
   *
   * An envelope of a host has points only, and no number. It creates the host, and its namespace, where missing. Followers
   * do not learn of points of hosts: they have no change, and wake no subscriber.
   */
  append(envelopes: readonly AppendEnvelope[], nowUs: number): Promise<AppendOutcome[]>;
}

/**
 * Says what changed, in order. Every write that changes a run, a namespace or access gets a position, in the
 * transaction of the write. Positions rise, are never given out twice, and outlive a restart. They need not be adjacent.
 *
 * The journal remembers a bounded number of changes: those after `floor`.
 */
export interface JournalReader {
  /**
   * The position of the last change that was acknowledged here. Costs nothing and waits for nothing: a read that begins
   * after the call contains every change up to it. Another server may have acknowledged later ones.
   */
  position(): number;
  /**
   * Changes after a position that are of one of these kinds (of CHANGED), with nothing but these kinds; undefined asks
   * only where the journal is. Sees every write that was acknowledged before the call. Asking for rare kinds alone
   * costs no more than there are of them.
   */
  changesSince(position: number | undefined, kinds: number): Promise<JournalPart>;
  /**
   * Points of one run in the order they came, from envelopes after one position up to another; not all when they are
   * more than `pointsMax`, but at least one envelope where there is one. undefined where some of them are not kept as
   * they came any more: they are in their series, but no longer in this order. The caller owns the arrays.
   */
  readPoints(request: ReadJournalPoints): Promise<JournalPoints | undefined>;
  /**
   * Calls `wake` when something may have changed, before the writer has its answer. A wake-up may be lost and may come
   * for nothing. Returns how to unsubscribe.
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
  /** Of the last change there is, of whatever kind. */
  position: number;
  /** The last one of each run and kind, rising by position; those of purged runs only say so. */
  changes: JournalChange[];
}

export interface JournalChange {
  position: number;
  /** "" for what concerns no single run. */
  runId: string;
  /** Where the run is or, once it is purged, was by the path of then; "" where there is none. */
  namespace: string;
  /** Of CHANGED. */
  what: number;
  /** With points: how many envelopes with points came since the position that was asked for. */
  envelopes: number;
  /** The places that the run left since the position that was asked for, rising; absent where it left none. */
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
     * Where the writer was judged: when the run is not there any more the envelope is refused with `precondition`
     * (RUN_MOVED), duplicates too, and nothing of it is stored. undefined for wherever it is.
     */
    namespace?: string | undefined;
  };
export type HostAppend = HostOwner & AppendParts & { namespace?: undefined };

export interface AppendParts extends EnvelopeParts {
  /** Stored instead of `log` and `artifacts`, which then count for the digest only. */
  kept?: KeptParts | undefined;
  /**
   * Who writes, for the authors of its artifacts. A change that overwrites something of a run that has ended is
   * written down with `change`, an artifact of another principal that is replaced with its record in `artifacts`.
   * Ordinary logging leaves no entry.
   */
  audit?: EnvelopeAudit | undefined;
}

export interface EnvelopeAudit {
  change: AuditRecord | undefined;
  /** One per artifact that is stored, in their order. */
  artifacts: readonly AuditRecord[];
}

export type KeptParts = Pick<EnvelopeParts, "log" | "artifacts">;

/** `position` is that of its change; undefined when nothing changed that followers learn of. */
export type AppendOutcome =
  | { ok: true; ack: EnvelopeAck; position: number | undefined }
  | { ok: false; error: Error };
