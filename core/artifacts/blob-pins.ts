/**
 * Keeps a blob from being destroyed while an artifact is about to have it. An upload holds its digest from
 * before the blob can be found until its row is durable; whoever destroys waits for nobody and takes only what
 * nobody holds, and who wants to hold what is being destroyed waits until it is gone and then puts it anew.
 */
export class BlobPins {
  readonly #held = new Map<string, number>();
  readonly #destroying = new Map<string, Promise<void>>();

  async hold(digest: string): Promise<void> {
    for (;;) {
      const destroying = this.#destroying.get(digest);
      if (destroying === undefined) break;
      await destroying;
    }
    this.#held.set(digest, (this.#held.get(digest) ?? 0) + 1);
  }

  release(digest: string): void {
    const left = (this.#held.get(digest) ?? 0) - 1;
    if (left > 0) this.#held.set(digest, left);
    else this.#held.delete(digest);
  }

  /** Runs `work` while nobody can hold the digest. Returns whether it ran; rejects as it does. */
  async destroy(digest: string, work: () => Promise<void>): Promise<boolean> {
    if (this.#held.has(digest) || this.#destroying.has(digest)) return false;
    const working = work();
    const settled = working.then(
      () => undefined,
      () => undefined,
    );
    this.#destroying.set(digest, settled);
    try {
      await working;
    } finally {
      this.#destroying.delete(digest);
    }
    return true;
  }
}
