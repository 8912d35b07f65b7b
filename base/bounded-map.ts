/**
 * A cache of at most `max` entries, as a Map: the oldest entry is evicted. Reading costs what it costs in a
 * Map and does not count as a use; for LRU, set an entry again after reading it. Meant for some thousands of entries: to
 * find the first one, a Map walks over what was deleted before it, which takes 10 µs with 10,000 of them.
 */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #max: number;
  readonly #onEvict: ((key: K, value: V) => void) | undefined;

  constructor(max: number, onEvict?: (key: K, value: V) => void) {
    super();
    this.#max = max;
    this.#onEvict = onEvict;
  }

  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#max) {
      const [oldest, evicted] = this.entries().next().value!;
      this.delete(oldest);
      this.#onEvict?.(oldest, evicted);
    }
    return this;
  }
}
