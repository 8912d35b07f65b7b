/** Ends the stream with this error. Later calls are ignored. */
export type Interrupt = (cause: Error) => void;

/**
 * The items, until it is interrupted: then, also while it waits for the next one, it throws the cause. `arm` gets the
 * function that interrupts and returns one that disarms it. The source of the items is asked to stop, but not waited
 * for.
 *
 * Each wait has a promise of its own: one that lasted as long as the stream would remember every item's
 * race against it.
 */
export async function* interruptible<T>(
  items: AsyncIterable<T>,
  arm: (interrupt: Interrupt) => () => void,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  let cause: Error | undefined;
  let giveUp: Interrupt | undefined;
  const disarm = arm((error) => {
    cause ??= error;
    giveUp?.(cause);
  });
  try {
    for (;;) {
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        giveUp = reject;
        if (cause === undefined) iterator.next().then(resolve, reject);
        else reject(cause);
      });
      giveUp = undefined;
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    disarm();
    iterator.return?.().catch(() => undefined);
  }
}
