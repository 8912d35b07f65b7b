import { describeAttempt, planAttempt, type Attempt } from "./attempt.ts";
import { perform } from "./perform.ts";
import type { Victim } from "./victim.ts";

const AT_ONCE = 16;
const TRACE_MAX = 20;
const LINE_MAX = 400;

export interface FuzzBounds {
  ms: number;
  attemptsMax: number;
  /** Only these numbers, again and again: to find out which of them did it. */
  only?: readonly number[];
}

/**
 * Opens connections to one server and ends each at a moment chosen by the seed. The n-th attempt is always the same for a
 * seed; how many are under way at once, and what the server does meanwhile, is not.
 */
export class Fuzzer {
  readonly #victim: Victim;
  readonly #seed: number;
  readonly #last: Attempt[] = [];
  /** How often each choice was made. */
  readonly counts = new Map<string, number>();
  #next = 0;

  constructor(victim: Victim, seed: number) {
    this.#victim = victim;
    this.#seed = seed;
  }

  get attempts(): number {
    return this.#next;
  }

  /** Stops early when the server dies or complains. Goes on from where the call before stopped. */
  async run({ ms, attemptsMax, only }: FuzzBounds): Promise<void> {
    const { target, port, isTls } = this.#victim;
    const endMs = performance.now() + ms;
    const lastIndex = this.#next + attemptsMax;
    const work = async (): Promise<void> => {
      while (performance.now() < endMs && this.#next < lastIndex && !this.#victim.isHarmed) {
        const turn = this.#next++;
        const index = only === undefined ? turn : only[turn % only.length]!;
        const attempt = planAttempt(this.#seed, index, isTls, target);
        this.#note(attempt);
        await perform(attempt, port, isTls);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  /** A failure with everything needed to repeat it. */
  report(failure: string): string {
    const lines = this.#last.map((attempt) => `  ${describeAttempt(attempt).slice(0, LINE_MAX)}`);
    const again = `CAIRN_SEED=${this.#seed}, server "${this.#victim.name}", ${this.#next} attempts`;
    return `${failure}\n${again}; the last ones:\n${lines.join("\n")}`;
  }

  #note(attempt: Attempt): void {
    this.#last.push(attempt);
    if (this.#last.length > TRACE_MAX) this.#last.shift();
    const choices = [
      attempt.http,
      `at ${attempt.moment.at}`,
      `by ${attempt.end}`,
      ...attempt.asks.flatMap(({ kind, extras }) => [kind.replace(/, .*/, ""), ...extras]),
    ];
    for (const choice of new Set(choices)) this.counts.set(choice, (this.counts.get(choice) ?? 0) + 1);
  }
}
