import type { LiveEvent } from "./types.ts";

/** More than this is not worth keeping: what is shown is read again. */
const EVENTS_MAX = 500;

/** What came while nobody looked, in order. */
export class MissedEvents {
  #events: LiveEvent[] = [];
  #isStale = false;

  keep(event: LiveEvent): void {
    if (event.kind === "stale" || this.#isStale || this.#events.length >= EVENTS_MAX) {
      // Whoever reads again has no use for what came before. Lines come by number and are cheap to read again, too.
      this.#isStale = true;
      this.#events = [];
      return;
    }
    // One of them says it all.
    if (event.kind === "changes" && this.#events.length > 0) return;
    this.#events.push(event);
  }

  take(): LiveEvent[] {
    const events: LiveEvent[] = this.#isStale ? [{ kind: "stale" }] : this.#events;
    this.#events = [];
    this.#isStale = false;
    return events;
  }
}
