// Plain JavaScript, because both beginnings of a thread use it.

/** Long enough for the first calls of a start. */
const AFTER_MS = 1_000;

/**
 * Collects what the start of a thread leaves behind: half of its heap is garbage from loading code, which V8 would keep as
 * long as the thread allocates little. Without `--expose-gc` nothing happens.
 */
export function collectAfterStart() {
  setTimeout(() => globalThis.gc?.({ type: "major", flavor: "last-resort" }), AFTER_MS).unref();
}
