import type { Kind } from "./kind.ts";

const SLOTS_MIN = 1 << 10;

/**
 * Which series there are and of which kind, in ten bytes each: a run may have a million of them, and only those of the
 * last minutes are worth an object. Names are remembered by 52 bits of a hash; among a million, two share one
 * in one of nine thousand runs, and then the second counts as the first.
 */
export class KnownSeries {
  #hashes = new Float64Array(SLOTS_MIN);
  #kinds = new Uint8Array(SLOTS_MIN);
  size = 0;

  /** 0 when it is not known. */
  kindOf(key: string, labels: string): Kind | 0 {
    return this.#kinds[this.#slot(hashOf(key, labels))] as Kind | 0;
  }

  add(key: string, labels: string, kind: Kind): void {
    if (this.size * 2 >= this.#hashes.length) this.#grow();
    const hash = hashOf(key, labels);
    const slot = this.#slot(hash);
    if (this.#kinds[slot] === 0) this.size++;
    this.#hashes[slot] = hash;
    this.#kinds[slot] = kind;
  }

  /** Where the hash is, or where it belongs. */
  #slot(hash: number): number {
    const mask = this.#hashes.length - 1;
    let slot = hash & mask;
    while (this.#kinds[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #grow(): void {
    const hashes = this.#hashes;
    const kinds = this.#kinds;
    this.#hashes = new Float64Array(hashes.length * 2);
    this.#kinds = new Uint8Array(hashes.length * 2);
    for (let i = 0; i < hashes.length; i++) {
      if (kinds[i] === 0) continue;
      const slot = this.#slot(hashes[i]!);
      this.#hashes[slot] = hashes[i]!;
      this.#kinds[slot] = kinds[i]!;
    }
  }
}

/** Two lanes of multiply and rotate over the UTF-16 units, mixed at the end. */
function hashOf(key: string, labels: string): number {
  let a = 0x9e3779b1;
  let b = 0x85ebca77;
  for (const text of [key, labels]) {
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(((b << 13) | (b >>> 19)) ^ unit, 0x5bd1e995);
    }
    a = Math.imul(a ^ 0xff, 0x27d4eb2f);
    b ^= a >>> 15;
  }
  a = Math.imul(a ^ (a >>> 16), 0x7feb352d);
  b = Math.imul(b ^ (b >>> 15), 0x2c1b3c6d);
  a ^= b >>> 13;
  return (b >>> 0) + (a & 0xfffff) * 2 ** 32;
}
