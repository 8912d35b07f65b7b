import type { Query, QueryCache, QueryKey, QueryOptions } from "@tanstack/react-query";
import { callPositions } from "./call-positions.ts";

/** One reading of a query. The times are only an order. */
interface Reading {
  askedAt: number;
  answeredAt: number;
  /** Of its answers; empty where they have none, such as those about lineage. */
  positions: ReadonlySet<string>;
}

/** Remembers the positions of cached answers, so that a watch begins with what they do not contain. */
export class ReadPositions {
  readonly #cache: QueryCache;
  readonly #asked = new WeakMap<Query, Reading>();
  readonly #shown = new WeakMap<Query, Reading>();
  #time = 0;

  constructor(cache: QueryCache) {
    this.#cache = cache;
    cache.subscribe((event) => {
      if (event.type !== "updated" || event.action.type !== "success") return;
      const reading = this.#asked.get(event.query);
      // Set by the page itself: not an answer to a request.
      if (event.action.manual === true || reading === undefined) return;
      this.#shown.set(event.query, { ...reading, answeredAt: ++this.#time });
    });
  }

  /** For all queries of the client. */
  readonly behavior: NonNullable<QueryOptions["behavior"]> = {
    onFetch: ({ signal }, query) => {
      const positions = callPositions(signal);
      this.#asked.set(query, { askedAt: ++this.#time, answeredAt: Infinity, positions });
    },
  };

  /**
   * Calls `begin` once, later, with positions from which a watch misses no change of the answers that are shown under these keys; with none if these are unknown.
   * Returns a function that undoes what `begin` did.
   */
  whenRead(keys: readonly QueryKey[], begin: (since: readonly string[]) => () => void): () => void {
    let isOver = false;
    const check = () => {
      const since = isOver ? undefined : this.#since(keys);
      if (since === undefined) return;
      isOver = true;
      undo();
      undo = begin(since);
    };
    // Components that are mounted together begin to show their answers one after another, in the same task.
    const checkSoon = () => queueMicrotask(check);
    let undo = this.#cache.subscribe(checkSoon);
    checkSoon();
    return () => {
      isOver = true;
      undo();
    };
  }

  /** Undefined until something is shown, and while an answer is on its way that may be older than all shown ones. */
  #since(keys: readonly QueryKey[]): string[] | undefined {
    const queries = keys.flatMap((queryKey) => this.#cache.findAll({ queryKey, type: "active" }));
    const known = queries.flatMap((query) => this.#shown.get(query) ?? []).filter(hasPosition);
    const firstAt = Math.min(...known.map(({ answeredAt }) => answeredAt));
    // What was requested after another answer had arrived contains every change up to the position of that.
    const isOlder = (query: Query) => {
      const reading = this.#shown.get(query) ?? this.#asked.get(query);
      return reading === undefined || (!known.includes(reading) && reading.askedAt < firstAt);
    };
    const older = queries.filter(isOlder);
    const isLoading = ({ state }: Query) => state.data === undefined && state.fetchStatus === "fetching";
    if (queries.length === 0 || older.some(isLoading)) return undefined;
    if (older.length > 0) return [];
    const since = new Set<string>();
    for (const { positions } of known) for (const position of positions) since.add(position);
    return [...since];
  }
}

const hasPosition = ({ positions }: Reading) => positions.size > 0;
