import type { Changes } from "./changes.ts";

const REMEMBERED_MAX = 256;

/** What was found out since listeners were last told to look; all of it is forgotten when they are told again. */
export class PerWave<V> {
  readonly #changes: Changes;
  readonly #values = new Map<string, V>();
  #wave = -1;

  constructor(changes: Changes) {
    this.#changes = changes;
  }

  get(key: string, make: () => V): V {
    if (this.#wave !== this.#changes.wave) {
      this.#wave = this.#changes.wave;
      this.#values.clear();
    }
    let value = this.#values.get(key);
    if (value === undefined) {
      value = make();
      this.#values.set(key, value);
      if (this.#values.size > REMEMBERED_MAX) this.#values.delete(this.#values.keys().next().value!);
    }
    return value;
  }
}
