import type { Changes } from "./changes.ts";

const REMEMBERED_MAX = 256;
/** An event has up to 16 MiB: so many of them would fill the memory until something happens. */
const REMEMBERED_BYTES_MAX = 64 << 20;

/** Answers since subscriptions were last notified; all of them are forgotten at the next notification. */
export class PerWave<V> {
  readonly #changes: Changes;
  readonly #values = new Map<string, V>();
  readonly #bytes = new Map<V, number>();
  #bytesInAll = 0;
  #wave = -1;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  get(key: string, make: () => V): V {
    if (this.#wave !== this.#changes.wave) {
      this.#wave = this.#changes.wave;
      this.#values.clear();
      this.#bytes.clear();
      this.#bytesInAll = 0;
    }
    let value = this.#values.get(key);
    if (value === undefined) {
      value = make();
      this.#values.set(key, value);
      if (this.#values.size > REMEMBERED_MAX) this.#forgetOldest();
    }
    return value;
  }

  /** A value has become larger by so much. When all are too large, the oldest are forgotten. */
  grow(key: string, value: V, bytes: number): void {
    if (this.#values.get(key) !== value) return;
    this.#bytes.set(value, (this.#bytes.get(value) ?? 0) + bytes);
    this.#bytesInAll += bytes;
    while (this.#bytesInAll > REMEMBERED_BYTES_MAX) this.#forgetOldest();
  }

  #forgetOldest(): void {
    const [key, value] = this.#values.entries().next().value!;
    this.#values.delete(key);
    this.#bytesInAll -= this.#bytes.get(value) ?? 0;
    this.#bytes.delete(value);
  }
}
