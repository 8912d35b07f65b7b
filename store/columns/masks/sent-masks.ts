import { BoundedMap } from "#base/bounded-map.ts";
import type { ReadMask } from "#core/types/scope.ts";
import { CairnError } from "#lang/errors.ts";
import type { PlainMask } from "./plain-query.ts";
import { MASK_UNKNOWN } from "../worker-api.ts";

/**
 * The masks that were sent to the thread of the index. Both sides see the calls in the same order and drop the least
 * recently used mask, so that this side mostly knows what the other has; if it is wrong, the other side reports that
 * and gets the mask again.
 */
export class SentMasks {
  readonly #ids: BoundedMap<string, true>;

  constructor(max: number) {
    this.#ids = new BoundedMap(max);
  }

  async call<R>(mask: ReadMask | undefined, call: (plain: PlainMask) => Promise<R>): Promise<R> {
    if (mask === undefined) return call(undefined);
    const known = this.#ids.has(mask.id);
    this.#ids.set(mask.id, true);
    if (!known) return call(mask);
    try {
      return await call(mask.id);
    } catch (thrown) {
      if (!(thrown instanceof CairnError) || thrown.reason !== MASK_UNKNOWN) throw thrown;
      return call(mask);
    }
  }
}
