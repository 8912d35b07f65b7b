import { setImmediate } from "node:timers/promises";

/** How long work runs before it yields to other work. */
const SLICE_MS = 5;

/**
 * Runs a generator to its end and answers with what it returns. It works for a few milliseconds at a time, from one
 * `yield` to the next; `check` is called after each pause and may throw.
 */
export async function inSlices<T>(work: Generator<void, T>, check: () => void): Promise<T> {
  try {
    for (;;) {
      check();
      const endMs = performance.now() + SLICE_MS;
      do {
        const step = work.next();
        if (step.done === true) return step.value;
      } while (performance.now() < endMs);
      await setImmediate();
    }
  } finally {
    // A generator that is abandoned must release what it holds.
    work.return(undefined as T);
  }
}
