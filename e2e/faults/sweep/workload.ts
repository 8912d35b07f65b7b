import { CairnError } from "#lang/errors.ts";
import type { OpenStores } from "./stores.ts";

/** What is written while calls fail, and what must be there afterwards. It is kept when its stores are opened again. */
export interface Workload {
  /** Takes up stores that were opened, for the first time or again. Nothing fails yet. */
  begin(stores: OpenStores): Promise<void>;
  /**
   * Makes the next write and records that it was acknowledged, or throws its error. `turn` counts
   * up and says what to do; content is never the same twice.
   */
  act(turn: number): Promise<void>;
  /** Whether that turn must be refused once a sync of `file` has failed, a path in the data directory. */
  needs(turn: number, file: string): boolean;
  /** Whether acknowledging is the last that a turn does, so that a sync that failed meanwhile must refuse it. */
  readonly endsWithAck: boolean;
  /**
   * Throws unless all that was acknowledged is there, once and bit for bit, and of the rest nothing half.
   * `settled` when what is there now stays, so that there are no doubts left.
   */
  check(settled: boolean): Promise<void>;
  /** Lets go of the stores, which are about to be closed. May throw what writing throws. */
  end(): Promise<void>;
}

/**
 * The content of each name. After a refusal the write may have happened or not: the
 * answer may have been lost after the commit. But it never happened in part.
 */
export class Ledger<T> {
  /** The contents that are possible; undefined means none. */
  readonly #possible = new Map<string, (T | undefined)[]>();

  /** Names under which something is for sure. */
  certain(): string[] {
    const isCertain = ([, [first, ...others]]: [string, (T | undefined)[]]) =>
      others.length === 0 && first !== undefined;
    return [...this.#possible].filter(isCertain).map(([name]) => name);
  }

  /** The only thing that may be there. */
  get(name: string): T | undefined {
    return this.#possible.get(name)?.[0];
  }

  /** Records the result of writing `content` under the name, or of deleting it, and rethrows the error of `act`. */
  async note(name: string, content: T | undefined, act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
      this.#possible.set(name, [content]);
    } catch (thrown) {
      this.#possible.set(name, [...(this.#possible.get(name) ?? [undefined]), content]);
      throw thrown;
    }
  }

  /** `find` returns the stored content in the form in which it was written, or undefined. */
  async check(
    what: string,
    settled: boolean,
    find: (name: string) => Promise<T | undefined> | T | undefined,
  ): Promise<void> {
    for (const [name, possible] of this.#possible) {
      const content = await find(name);
      const found = JSON.stringify(content) ?? "nothing";
      const expected = possible.map((one) => JSON.stringify(one) ?? "nothing");
      if (expected.includes(found)) {
        if (settled) this.#possible.set(name, [content]);
        continue;
      }
      const wanted = expected.map((text) => text.slice(0, 200)).join(" or ");
      throw new Error(`${what} ${name} is ${found.slice(0, 200)}, not ${wanted}`);
    }
  }
}

export function requireSame(what: string, found: unknown, expected: unknown): void {
  const [a, b] = [JSON.stringify(found), JSON.stringify(expected)];
  if (a !== b) throw new Error(`${what} is ${a?.slice(0, 300)}, not ${b?.slice(0, 300)}`);
}

/** Whether a store may answer so while its disk fails. Anything else is a bug. */
export function isRefusal(thrown: unknown): thrown is CairnError {
  return thrown instanceof CairnError && thrown.code === "unavailable";
}
