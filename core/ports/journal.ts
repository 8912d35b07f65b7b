import type { SeriesPoints } from "../types/series.ts";

/** What changed of a run, as bits that may be added. */
export const CHANGED = {
  /** The run itself: created, changed, moved to or out of the trash, lost. */
  run: 1,
  points: 2,
  lines: 4,
  artifacts: 8,
  /** Destroyed for good. */
  purged: 16,
  /** Points of series were destroyed; always with `points`. */
  deleted: 32,
} as const;

/**
 * Says what changed, in order. Every write that changes a run gets a position, in the transaction of the write.
 * Positions rise, are never given out twice, and outlive a restart. They need not be adjacent.
 *
 * The journal remembers a bounded number of changes: those after `floor`.
 */
export interface Journal {
  /**
   * Changes after a position, of all runs; undefined asks only where the journal is. Sees every write that was
   * acknowledged before the call.
   */
  changesSince(position: number | undefined): Promise<JournalPart>;
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
  /** Of the last change there is. */
  position: number;
  /** The last one of each run and kind, rising by position; those of purged runs only say so. */
  changes: JournalChange[];
}

export interface JournalChange {
  position: number;
  runId: string;
  /** Where the run is or, once it is purged, was. */
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
