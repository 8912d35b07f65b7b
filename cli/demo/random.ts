import { createHash } from "node:crypto";

/**
 * Numbers that look random and are the same for the same seed. A named fork depends on the names alone, not on
 * what was drawn before, so that adding or removing a run does not change the others.
 */
export class Random {
  readonly #name: string;
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;
  #spare: number | undefined;

  constructor(name: string | number) {
    this.#name = String(name);
    const digest = createHash("sha256").update(this.#name).digest();
    this.#a = digest.readUInt32LE(0);
    this.#b = digest.readUInt32LE(4);
    this.#c = digest.readUInt32LE(8);
  }

  fork(name: string | number): Random {
    return new Random(`${this.#name}/${name}`);
  }

  /** From 0 to below 1. The generator is "small fast counting" of 32 bits. */
  next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  }

  between(min: number, max: number): number {
    return min + (max - min) * this.next();
  }

  /** From 0 to below `count`. */
  whole(count: number): number {
    return Math.floor(this.next() * count);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.whole(from.length)]!;
  }

  /** Normally distributed, mean 0 and deviation 1. */
  normal(): number {
    if (this.#spare !== undefined) {
      const spare = this.#spare;
      this.#spare = undefined;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.next()));
    const angle = 2 * Math.PI * this.next();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  hex(digits: number): string {
    return Array.from({ length: digits }, () => this.whole(16).toString(16)).join("");
  }
}
