import { type Query, type QueryClient, type QueryFilters } from "@tanstack/react-query";

/**
 * Remembers when answers were requested. An answer contains every change before its request. Later changes may be missing, so a new subscription must be notified
 * of them (see live/hub.ts). The time when an answer arrived is not enough: a change may have happened while it was under way.
 */
export class AskedTimes {
  readonly #client: QueryClient;
  readonly #lastMs = new WeakMap<Query, number>();
  /** Of the present answer. */
  readonly #answeredMs = new WeakMap<Query, number>();

  constructor(client: QueryClient) {
    this.#client = client;
    client.getQueryCache().subscribe((event) => {
      if (event.type !== "updated") return;
      const { query, action } = event;
      if (action.type === "fetch") this.#lastMs.set(query, Date.now());
      // Set by the page itself: not an answer to a request.
      if (action.type === "success" && action.manual !== true) {
        this.#answeredMs.set(query, this.#lastMs.get(query) ?? Date.now());
      }
    });
  }

  /** When the oldest of the shown answers was requested, by Date.now(); now if there is none. */
  oldestOf(...keys: NonNullable<QueryFilters["queryKey"]>[]): number {
    const shown = keys.flatMap((queryKey) =>
      this.#client.getQueryCache().findAll({ queryKey, type: "active" }),
    );
    const times = shown.map((query) => this.#answeredMs.get(query) ?? this.#lastMs.get(query) ?? Date.now());
    return Math.min(Date.now(), ...times);
  }
}
