/**
 * Uploads in pieces that are not finished: whose they are, when their last piece came, and who works on each. The bytes are in a
 * BlobStore, to which any core may append, so that the pieces of one upload may come through several.
 *
 * One request at a time has the *turn* at an upload, a text of its own, until a time that it renews. The newest request gets it next:
 * asking for a turn that another has makes the asker the one who is *wanted*; who has the turn is notified by its next renewal, stops,
 * and ends its turn; older ones that wait are superseded. A turn that is not renewed ends by its time, so that a core that died is
 * replaced; who renews too late must stop. Every method is one transaction.
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
  /** Which core asks; see `shared`. */
  core: string;
  nowUs: number;
  untilUs: number;
  /** Whether this turn was asked for before, and waits. */
  again: boolean;
  /** Whether the upload begins when it is not there. */
  begins: boolean;
}

export type TakenUpload =
  /** `shared` when another core has worked on it, too: what this one remembers of its bytes proves nothing. */
  | { state: "taken"; shared: boolean }
  /** Another has the turn: ask again. */
  | { state: "wait" }
  | { state: "superseded" }
  | { state: "absent" };

export interface UploadProgress {
  /** When the last piece came; undefined when none came in this turn. */
  touchedUs: number | undefined;
}
