type Refetch = (keys: ReadonlySet<string>, runIds: ReadonlySet<string>) => Promise<void>;

const REST_MS = 400;

/**
 * Collects changes and reads again: one read at a time, with a pause after each that is as long as the read took, so
 * that a slow server is not overloaded, and the last change is never missed.
 */
export class Refresher {
  readonly #refetch: Refetch;
  #keys = new Set<string>();
  #runIds = new Set<string>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isBusy = false;
  #isOn = false;

  constructor(refetch: Refetch) {
    this.#refetch = refetch;
  }

  start(): void {
    this.#isOn = true;
  }

  stop(): void {
    this.#isOn = false;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#keys.clear();
    this.#runIds.clear();
  }

  add(key: string): void {
    this.#keys.add(key);
    this.#ask();
  }

  addRun(runId: string): void {
    this.#runIds.add(runId);
    this.#ask();
  }

  #ask(): void {
    if (!this.#isOn || this.#isBusy || this.#timer !== undefined) return;
    void this.#read();
  }

  async #read(): Promise<void> {
    const [keys, runIds] = [this.#keys, this.#runIds];
    [this.#keys, this.#runIds] = [new Set(), new Set()];
    this.#isBusy = true;
    const startMs = performance.now();
    try {
      await this.#refetch(keys, runIds);
    } finally {
      this.#isBusy = false;
      const restMs = Math.max(REST_MS, performance.now() - startMs);
      if (this.#isOn) {
        this.#timer = setTimeout(() => {
          this.#timer = undefined;
          if (this.#keys.size + this.#runIds.size > 0) this.#ask();
        }, restMs);
      }
    }
  }
}
