/**
 * Who does what must be done once, when several cores work on one store. A lease is a name that one holder has until a
 * time; names and holders are any text. Every call is one transaction: of two that ask at once, one gets it.
 *
 * Times are of the callers' clock, which may differ between cores by a few seconds: let a lease last much longer than
 * that. A holder that stops, is cut off or dies loses the lease when it ends, and may still be at work then, so a lease
 * saves double work and is never what keeps data whole.
 *
 * Leases need not outlive the store: an engine that one process has to itself may forget them when it is closed.
 */
export interface Leases {
  /**
   * Gives the lease to `holder` until `untilUs` when it has it already, or when it is free: never given, or ended by `nowUs`.
   * `untilUs` of the answer is the end of the lease as it is now, also when another holds it.
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
