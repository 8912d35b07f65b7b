/**
 * Lets one thread stop what another is doing for it. A thread that works through a synchronous call sees no
 * message until it is done, so the request to cancel is a number in shared memory: the caller sets it, and the
 * worker checks it between two steps.
 *
 * This module keeps the current call, since a thread works on one at a time. So code in the middle of a loop only calls
 * `throwIfCancelled()`.
 */
export type CancelFlag = Int32Array<SharedArrayBuffer>;

export function newCancelFlag(): CancelFlag {
  return new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
}

export function setCancelled(flag: CancelFlag): void {
  Atomics.store(flag, 0, 1);
}

/** Thrown by work whose caller is gone; nothing receives it. */
class Cancelled extends Error {
  override readonly name = "Cancelled";

  constructor() {
    super("cancelled: the caller is gone");
  }
}

let current: CancelFlag | undefined;

/** Runs `work`, during which `throwIfCancelled` checks this flag. */
export function whileNotCancelled<T>(flag: CancelFlag | undefined, work: () => T): T {
  const before = current;
  current = flag;
  try {
    throwIfCancelled();
    return work();
  } finally {
    current = before;
  }
}

/** The same for work that is done later on behalf of the call that is being worked on now. */
export function keepCancelFlag<T>(work: () => T): () => T {
  const flag = current;
  return flag === undefined ? work : () => whileNotCancelled(flag, work);
}

/** Throws `Cancelled` when the caller of the current call is gone. Costs next to nothing. */
export function throwIfCancelled(): void {
  if (current !== undefined && Atomics.load(current, 0) === 1) throw new Cancelled();
}
