/** How many run in one turn of the event loop. */
const SLICE = 32;

/**
 * Runs many callbacks a few at a time, so that the work of a change for ten thousand watchers is spread
 * over many turns of the event loop and other requests are served in between.
 */
export class Turns {
  #waiting: (() => void)[] = [];
  #next = 0;
  #running = false;

  /** Calls `go` in a later turn; first come, first served. */
  push(go: () => void): void {
    this.#waiting.push(go);
    if (this.#running) return;
    this.#running = true;
    setImmediate(this.#run);
  }

  /** Resolves in a later turn. */
  take(): Promise<void> {
    return new Promise((resolve) => this.push(resolve));
  }

  readonly #run = (): void => {
    const end = Math.min(this.#next + SLICE, this.#waiting.length);
    while (this.#next < end) this.#waiting[this.#next++]!();
    if (this.#next < this.#waiting.length) {
      setImmediate(this.#run);
      return;
    }
    this.#waiting = [];
    this.#next = 0;
    this.#running = false;
  };
}
