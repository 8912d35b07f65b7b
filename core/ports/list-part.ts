/** A part of a list, in its order. */
export interface ListPart<T> {
  rows: T[];
  /** Whether there are rows after these. */
  more: boolean;
}

/**
 * How much of a list a store returns at once: at most `limit` rows, and no row that would make all of them
 * more than `bytesMax` bytes of text; but the first row of a part always comes.
 */
export interface PartBound {
  limit: number;
  bytesMax: number;
}
