import type { LiveEvent } from "./types.ts";

/** With more events than this, the shown data is read again instead. */
const EVENTS_MAX = 500;

/** Events that arrived while the tab was hidden, in order. */
export class MissedEvents {
  #events: LiveEvent[] = [];
  #isStale = false;

  keep(event: LiveEvent): void {
    if (event.kind === "stale" || this.#isStale || this.#events.length >= EVENTS_MAX) {
      // A listener that reads again does not need earlier events. Lines have numbers and are cheap to read again, too.
      this.#isStale = true;
      this.#events = [];
      return;
    }
    // One such event is enough.
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
