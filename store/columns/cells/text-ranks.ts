import { compareCodePoints } from "#lang/code-points.ts";

/** Texts by their codes, which begin at `first`. A code keeps its text until the generation rises. */
interface Dictionary {
  readonly generation: number;
  readonly codeCount: number;
  text(code: number): string;
}

/** Above these units the order of code points is not that of UTF-16, which the engine compares by itself. */
const BEYOND_PLAIN = /[\ud800-\uffff]/;

/**
 * The texts of a column in order, so that comparing two of them is comparing two numbers. Made by the first sort by the column; later texts are
 * inserted, which costs one copy of the ranks and a few comparisons each.
 */
export class TextRanks {
  readonly #dictionary: Dictionary;
  readonly #first: number;
  #generation = -1;
  #isPlain = true;
  /** Codes in the order of their texts. */
  #sorted = new Uint32Array(0);
  #ranks = new Uint32Array(0);

  constructor(dictionary: Dictionary, first: number) {
    this.#dictionary = dictionary;
    this.#first = first;
  }

  /** By code, of all current texts. Valid until the column changes. */
  ranks(): Uint32Array {
    const { generation, codeCount } = this.#dictionary;
    if (generation !== this.#generation) {
      this.#generation = generation;
      this.#isPlain = true;
      this.#sorted = new Uint32Array(0);
    }
    const known = this.#first + this.#sorted.length;
    if (codeCount > known) this.#add(known, codeCount);
    return this.#ranks;
  }

  /** The rank of a text; of an unknown one the middle between its neighbours. */
  rankOf(text: string): number {
    this.ranks();
    const at = this.#search(text, 0);
    const found = this.#sorted[at];
    return found !== undefined && this.#dictionary.text(found) === text ? at : at - 0.5;
  }

  #add(from: number, end: number): void {
    const fresh = Array.from({ length: end - from }, (_, i) => from + i);
    const dictionary = this.#dictionary;
    this.#isPlain &&= !fresh.some((code) => BEYOND_PLAIN.test(dictionary.text(code)));
    fresh.sort((a, b) => this.#compare(dictionary.text(a), dictionary.text(b)));
    const before = this.#sorted;
    const sorted = new Uint32Array(before.length + fresh.length);
    let taken = 0;
    for (const [i, code] of fresh.entries()) {
      const at = this.#search(dictionary.text(code), taken);
      sorted.set(before.subarray(taken, at), taken + i);
      sorted[at + i] = code;
      taken = at;
    }
    sorted.set(before.subarray(taken), taken + fresh.length);
    this.#sorted = sorted;
    this.#ranks = new Uint32Array(end);
    for (let rank = 0; rank < sorted.length; rank++) this.#ranks[sorted[rank]!] = rank;
  }

  /** The first place from `lo` on whose text is not before this one. */
  #search(text: string, lo: number): number {
    let low = lo;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareCodePoints(this.#dictionary.text(this.#sorted[middle]!), text) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #compare(a: string, b: string): number {
    if (!this.#isPlain) return compareCodePoints(a, b);
    return a < b ? -1 : Number(a > b);
  }
}
