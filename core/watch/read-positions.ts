import type { Changes } from "./changes.ts";
import { cursorToText } from "./position.ts";

/** To seal a position costs as much as a small read. */
const RESEAL_MS = 20;

/**
 * Positions for answers of reads, from which a watch can begin. All reads of a moment share one text, and the next moment
 * has another one whether anything has happened or not: otherwise a caller that reads twice would notice changes that it
 * may not see.
 */
export class ReadPositions {
  readonly #changes: Changes;
  readonly #resealMs: number;
  #text = "";
  #sealedMs = -Infinity;

  constructor(changes: Changes, resealMs: number = RESEAL_MS) {
    this.#changes = changes;
    this.#resealMs = resealMs;
  }

  /**
   * For an answer that is read from now on: it contains every change up to this position, and perhaps later ones. Waits
   * for nothing.
   */
  now(): string {
    const nowMs = performance.now();
    if (nowMs >= this.#sealedMs + this.#resealMs) {
      const at = this.#changes.acknowledged;
      this.#text = cursorToText({ runs: at, points: at, part: undefined }, this.#changes, 0);
      this.#sealedMs = nowMs;
    }
    return this.#text;
  }
}
