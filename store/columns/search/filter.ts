/**
 * Filters work on a block of rows and a selection: the offsets of the rows that are still in. A
 * conjunction passes the selection from term to term, so that each processes only the rows that the ones before
 * it left, and puts the terms that drop most for the least cost first, by statistics of its run. A
 * disjunction is what is left when nothing is dropped by all of its terms flipped.
 */
import { BLOCK_ROWS, EMPTY, type CellReader } from "../cells/cells.ts";
import {
  keepCode,
  keepInside,
  keepNumbers,
  keepOutside,
  keepRest,
  keepTable,
  run,
  type Flip,
} from "./kernels.ts";

export interface Filter {
  /** The cost of one row, in units of a plain comparison. */
  readonly cost: number;
  /**
   * Narrows the first `count` offsets of `selection`, rows `lo + offset` below `hi`, to the rows that
   * pass, or with `flip` 1 to those that do not. Keeps their order and returns how many are left.
   */
  keep(lo: number, hi: number, selection: Uint16Array, count: number, flip: Flip): number;
}

/** A filter, or with `flip` 1 its opposite. */
export interface Term {
  readonly filter: Filter;
  readonly flip: Flip;
}

export function opposite(term: Term): Term {
  return { filter: term.filter, flip: term.flip === 1 ? 0 : 1 };
}

/** Passes rows that all terms pass; everything when there are none. */
export function allOf(terms: readonly Term[]): Term {
  if (terms.length === 1) return terms[0]!;
  return { filter: new Conjunction(terms), flip: 0 };
}

/** Passes rows that one of the terms passes; nothing when there are none. */
export function anyOf(terms: readonly Term[]): Term {
  return opposite(allOf(terms.map(opposite)));
}

interface WatchedTerm extends Term {
  seen: number;
  dropped: number;
}

const WATCHED_ROWS_MAX = 8 * BLOCK_ROWS;

class Conjunction implements Filter {
  readonly cost: number;
  readonly #terms: WatchedTerm[];
  readonly #dropped = new Uint16Array(BLOCK_ROWS);

  constructor(terms: readonly Term[]) {
    const flat = terms.flatMap((term) =>
      term.flip === 0 && term.filter instanceof Conjunction ? term.filter.#terms : [term],
    );
    this.#terms = flat.map(({ filter, flip }) => ({ filter, flip, seen: 2, dropped: 1 }));
    this.#terms.sort((a, b) => price(a) - price(b));
    this.cost = this.#terms.reduce((sum, term) => sum + term.filter.cost, 0);
  }

  keep(lo: number, hi: number, selection: Uint16Array, count: number, flip: Flip): number {
    if (flip === 0) return this.#narrow(lo, hi, selection, count);
    this.#dropped.set(count === BLOCK_ROWS ? selection : selection.subarray(0, count));
    const dropped = this.#narrow(lo, hi, this.#dropped, count);
    return keepRest(selection, count, this.#dropped, dropped);
  }

  #narrow(lo: number, hi: number, selection: Uint16Array, count: number): number {
    for (const term of this.#terms) {
      if (count === 0) return 0;
      const kept = term.filter.keep(lo, hi, selection, count, term.flip);
      term.seen += count;
      term.dropped += count - kept;
      count = kept;
    }
    this.#reorder();
    return count;
  }

  #reorder(): void {
    const terms = this.#terms;
    for (let at = 0; at < terms.length; at++) {
      const term = terms[at]!;
      if (term.seen > WATCHED_ROWS_MAX) {
        term.seen /= 2;
        term.dropped /= 2;
      }
      let to = at;
      for (; to > 0 && price(terms[to - 1]!) > price(term); to--) terms[to] = terms[to - 1]!;
      terms[to] = term;
    }
  }
}

/** The cost of dropping one row. */
function price(term: WatchedTerm): number {
  return (term.filter.cost * term.seen) / (term.dropped + 0.001);
}

/** No row passes: the column it would read does not exist. */
export const nothing: Term = {
  filter: { cost: 0, keep: (_lo, _hi, _selection, count, flip) => (flip === 1 ? count : 0) },
  flip: 0,
};

export function inside(cells: CellReader, lane: number, low: number, high: number): Term {
  return {
    filter: {
      cost: 1,
      keep(lo, hi, selection, count, flip) {
        const part = cells.numbersPart(lo, hi, lane);
        if (part === undefined) return flip === 1 ? count : 0;
        return run(keepInside, part, selection, count, flip, low, high);
      },
    },
    flip: 0,
  };
}

export function outside(cells: CellReader, lane: number, low: number, high: number): Term {
  return {
    filter: {
      cost: 1,
      keep(lo, hi, selection, count, flip) {
        const part = cells.numbersPart(lo, hi, lane);
        if (part === undefined) return flip === 1 ? count : 0;
        return run(keepOutside, part, selection, count, flip, low, high);
      },
    },
    flip: 0,
  };
}

export function oneOfNumbers(cells: CellReader, lane: number, wanted: ReadonlySet<number>): Term {
  return {
    filter: {
      cost: 10,
      keep(lo, hi, selection, count, flip) {
        const part = cells.numbersPart(lo, hi, lane);
        if (part === undefined) return flip === 1 ? count : 0;
        return run(keepNumbers, part, selection, count, flip, wanted, undefined);
      },
    },
    flip: 0,
  };
}

export function hasCode(cells: CellReader, code: number): Term {
  return {
    filter: {
      cost: 1,
      keep(lo, hi, selection, count, flip) {
        const part = cells.codesPart(lo, hi);
        if (part === undefined) return flip === 1 ? count : 0;
        return run(keepCode, part, selection, count, flip, code, undefined);
      },
    },
    flip: 0,
  };
}

/** Rows with any value at all. */
export function present(cells: CellReader): Term {
  const filter: Filter = {
    cost: 1,
    keep(lo, hi, selection, count, flip) {
      const part = cells.codesPart(lo, hi);
      if (part === undefined) return flip === 1 ? 0 : count;
      return run(keepCode, part, selection, count, flip, EMPTY, undefined);
    },
  };
  return { filter, flip: 1 };
}

/** Cheaper than any other: a block without such a row is skipped. */
const ROWS_COST = 0.1;

export function rowsIn(wanted: Iterable<number>): Term {
  const rows = Uint32Array.from(wanted).sort();
  const filter: Filter = {
    cost: ROWS_COST,
    keep(lo, hi, selection, count, flip) {
      let next = firstFrom(rows, lo);
      if (next === rows.length || rows[next]! >= hi) return flip === 1 ? count : 0;
      let kept = 0;
      for (let at = 0; at < count; at++) {
        const offset = selection[at]!;
        while (next < rows.length && rows[next]! < lo + offset) next++;
        if (Number(rows[next] === lo + offset) !== flip) selection[kept++] = offset;
      }
      return kept;
    },
  };
  return { filter, flip: 0 };
}

/** The place of the first number that is `least` or more; `sorted` rises. */
export function firstFrom(sorted: Uint32Array, least: number): number {
  let from = 0;
  let to = sorted.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (sorted[middle]! < least) from = middle + 1;
    else to = middle;
  }
  return from;
}

const UNKNOWN = 2;
const EAGER_CODES_MAX = 256;

/**
 * Codes that `test` passes. It is called once per code, and with many codes only for those of rows that
 * got this far; EMPTY never passes. `codes` is one more than the highest code of the column.
 */
export function codesWhere(
  cells: CellReader,
  codes: number,
  testCost: number,
  test: (code: number) => boolean,
): Term {
  const table = new Uint8Array(codes).fill(UNKNOWN);
  table[EMPTY] = 0;
  const eager = codes <= EAGER_CODES_MAX;
  if (eager) for (let code = EMPTY + 1; code < codes; code++) table[code] = Number(test(code));
  const filter: Filter = {
    cost: testCost,
    keep(lo, hi, selection, count, flip) {
      const part = cells.codesPart(lo, hi);
      if (part === undefined) return flip === 1 ? count : 0;
      for (let at = eager ? count : 0; at < count; at++) {
        const code = part[selection[at]!]!;
        if (table[code] === UNKNOWN) table[code] = Number(test(code));
      }
      return run(keepTable, part, selection, count, flip, table, undefined);
    },
  };
  return { filter, flip: 0 };
}
