import { type Query, type QueryClient, type QueryFilters } from "@tanstack/react-query";

/**
 * Knows when answers were asked for. Whatever happened before that is in them; whatever happened since may not be, and whoever begins to listen must be told of it
 * (see live/hub.ts). That an answer is new does not say so: it may have been on its way while something happened.
 */
export class AskedTimes {
  readonly #client: QueryClient;
  readonly #lastMs = new WeakMap<Query, number>();
  /** Of the answer that is there. */
  readonly #answeredMs = new WeakMap<Query, number>();

  constructor(client: QueryClient) {
    this.#client = client;
    client.getQueryCache().subscribe((event) => {
      if (event.type !== "updated") return;
      const { query, action } = event;
      if (action.type === "fetch") this.#lastMs.set(query, Date.now());
      // Put in by hand, it is no answer to what was asked.
      if (action.type === "success" && action.manual !== true) {
        this.#answeredMs.set(query, this.#lastMs.get(query) ?? Date.now());
      }
    });
  }

  /** When the oldest of the answers that are shown was asked for, by Date.now(); now, when there is none. */
  oldestOf(...keys: NonNullable<QueryFilters["queryKey"]>[]): number {
    const shown = keys.flatMap((queryKey) =>
      this.#client.getQueryCache().findAll({ queryKey, type: "active" }),
    );
    const times = shown.map((query) => this.#answeredMs.get(query) ?? this.#lastMs.get(query) ?? Date.now());
    return Math.min(Date.now(), ...times);
  }
}
