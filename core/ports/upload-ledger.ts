/**
 * Uploads in pieces that are not finished: their owner, when their last piece came, and which request works on each. The bytes are in an
 * UploadStore, to which any core may append, so that the pieces of one upload may come through several.
 *
 * One request at a time has the *turn* at an upload, a text of its own, until a time that it renews. The newest request gets it next:
 * a request for a turn that another has becomes the *wanted* one; the holder is notified by its next renewal, stops, and ends its
 * turn; older requests that wait are superseded. A turn that is not renewed expires, so that a core that died is replaced; a holder
 * that renews too late must stop. Every method is one transaction.
 *
 * Ids are 64 hex digits of which the first 32 are the owner's. Turns need not outlive the store, uploads do.
 */
export interface UploadLedger {
  /** Throws `exhausted` (TOO_MANY_UPLOADS) when one more would begin and there are uploadsPerPrincipalMax or uploadsMax. */
  takeUpload(request: TakeUpload): Promise<TakenUpload>;
  /** Moves the end of a turn. "wanted": it was moved, and a newer request waits. "lost": another has the turn, or may have had it. */
  renewUpload(id: string, turn: string, nowUs: number, untilUs: number): Promise<"kept" | "wanted" | "lost">;
  /** Ends a turn; `now` is undefined when the upload is finished or dropped. Changes nothing when the turn was lost. */
  endTurn(id: string, turn: string, nowUs: number, now: UploadProgress | undefined): Promise<void>;
  /** Takes the turns at uploads whose last piece came before a time and that no request works on, and returns their ids. */
  takeExpired(request: {
    beforeUs: number;
    turn: string;
    nowUs: number;
    untilUs: number;
    limit: number;
  }): Promise<string[]>;
  /** Those of the ids that are unfinished uploads. */
  findUploads(ids: readonly string[]): Promise<string[]>;
}

export interface TakeUpload {
  id: string;
  turn: string;
  /** The calling core; see `shared`. */
  core: string;
  nowUs: number;
  untilUs: number;
  /** Whether this turn was requested before, and waits. */
  again: boolean;
  /** Whether a missing upload is begun. */
  begins: boolean;
}

export type TakenUpload =
  /** `shared` when another core has worked on it, too: the digest that this one has computed so far is invalid. */
  | { state: "taken"; shared: boolean }
  /** Another has the turn: retry. */
  | { state: "wait" }
  | { state: "superseded" }
  | { state: "absent" };

export interface UploadProgress {
  /** When the last piece came; undefined when none came in this turn. */
  touchedUs: number | undefined;
}
