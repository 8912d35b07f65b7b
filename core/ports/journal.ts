import type { SeriesPoints } from "../types/series.ts";

/** What changed, as bits that may be added. Those from `purged` on are rare: caches follow them. */
export const CHANGED = {
  /** The run itself: created, changed, moved to or out of the trash, lost. */
  run: 1,
  points: 2,
  lines: 4,
  artifacts: 8,
  /** Destroyed for good. */
  purged: 16,
  /** It is in another namespace now. Without a run: a namespace was moved with all that is in it. */
  moved: 32,
  /** Without a run: which namespaces there are, their objectives and capture policies. */
  namespaces: 64,
  /** Without a run: what the AccessStore holds. */
  access: 128,
} as const;

/** All that concerns single runs. */
export const CHANGED_RUNS =
  CHANGED.run | CHANGED.points | CHANGED.lines | CHANGED.artifacts | CHANGED.purged | CHANGED.moved;

/**
 * Says what changed, in order. Every write that changes a run, a namespace or access gets a position, in the
 * transaction of the write. Positions rise, are never given out twice, and outlive a restart. They need not be adjacent.
 *
 * The journal remembers a bounded number of changes: those after `floor`.
 */
export interface Journal {
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
   * Stands for this line of positions: when it is another one than before, no earlier position means anything. A
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
  /** Where the run is or, once it is purged, was; "" where there is none. */
  namespace: string;
  /** Of CHANGED. */
  what: number;
  /** With points: how many envelopes with points came since the position that was asked for. */
  envelopes: number;
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
