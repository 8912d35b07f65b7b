const BUDGET_MS = 6;

/**
 * Pictures that wait to be redrawn, a few milliseconds of them per frame and in turns, so that many charts do not block
 * the screen. Each owner has one picture: the latest.
 */
export class PaintQueue {
  readonly #waiting = new Map<object, () => void>();
  readonly #onFrame: (run: () => void) => void;
  readonly #nowMs: () => number;
  #isAsked = false;

  constructor(
    onFrame: (run: () => void) => void = (run) => requestAnimationFrame(run),
    nowMs: () => number = () => performance.now(),
  ) {
    this.#onFrame = onFrame;
    this.#nowMs = nowMs;
  }

  /** An owner that waits already keeps its turn. */
  add(owner: object, paint: () => void): void {
    this.#waiting.set(owner, paint);
    this.#ask();
  }

  remove(owner: object): void {
    this.#waiting.delete(owner);
  }

  #ask(): void {
    if (this.#isAsked || this.#waiting.size === 0) return;
    this.#isAsked = true;
    this.#onFrame(() => {
      this.#isAsked = false;
      this.#run();
    });
  }

  #run(): void {
    const endMs = this.#nowMs() + BUDGET_MS;
    for (const [owner, paint] of this.#waiting) {
      this.#waiting.delete(owner);
      paint();
      if (this.#nowMs() >= endMs) break;
    }
    this.#ask();
  }
}
