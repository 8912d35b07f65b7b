/**
 * Locks with an end, for work that one of several cores on a store must do. A lease is a name that one holder has until a
 * time; names and holders are any text. Every call is one transaction: of two callers at once, one gets it.
 *
 * Times are of the callers' clock, which may differ between cores by a few seconds: let a lease last much longer than
 * that. A holder that stops, is cut off or dies loses the lease when it ends, and may still be working then, so a lease
 * prevents double work, but data must be consistent without it.
 *
 * Leases need not outlive the store: an engine used by one process only may drop them when it is closed.
 */
export interface Leases {
  /**
   * Gives the lease to `holder` until `untilUs` when it has it already, or when it is free: never given, or ended by `nowUs`.
   * `untilUs` of the answer is the current end of the lease, also when another holds it.
   */
  acquireLease(
    name: string,
    holder: string,
    nowUs: number,
    untilUs: number,
  ): Promise<{ acquired: boolean; untilUs: number }>;
  /** Moves the end of a lease, forward or back (`0` releases it). Returns whether `holder` still has it; if not, nothing changes. */
  renewLease(name: string, holder: string, untilUs: number): Promise<boolean>;
}
