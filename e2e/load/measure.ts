import type { ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import type { ChildOptions } from "#server/testing/child.ts";

/** A server with the flags that `npm start` gives to Node, and more. NODE_OPTIONS may not contain all of them. */
export function asNpmStart(...more: string[]): Pick<ChildOptions, "nodeFlags"> {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(manifest) as { scripts: { start: string } };
  return { nodeFlags: [...(scripts.start.match(/--\S+/g) ?? []), ...more] };
}

/** Loaded into a server with --import: see there. */
export const CLEAN_HEAP = `--import=${new URL("clean-heap.js", import.meta.url).href}`;

/** Memory that a server with `CLEAN_HEAP` has in RAM, without what a garbage collection frees; `call` asks it something, no matter what. */
export async function cleanRssBytes(child: ChildProcess, call: () => Promise<unknown>): Promise<number> {
  child.kill("SIGUSR2");
  await call();
  return rssBytes(child.pid!);
}

/** Memory that a process has in RAM. */
export function rssBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) * 1024;
}

/** The value that `share` of all values do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}

/** Processor time that a process has taken so far, with all its threads. Linux counts it in hundredths of a second. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name of the program may hold spaces, and ends with the last bracket.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const ROUNDS_MAX = 4;
/** An idle machine takes a tenth of it. */
const TELLING_MS_MAX = 20;

/**
 * Measures up to `ROUNDS_MAX` times, until a round has nothing to object to, and gives the objections if none was
 * good. A defect is there in every round; what else the machine does is not.
 */
export async function objections(round: () => Promise<string | undefined>): Promise<string[]> {
  const said: string[] = [];
  while (said.length < ROUNDS_MAX) {
    const objection = await round();
    if (objection === undefined) return [];
    said.push(objection);
  }
  return said;
}

/** Latencies of the same work done in turn with and without a load, so that whatever else the machine does falls on both alike. */
export class Paired {
  readonly #plain: number[] = [];
  readonly #loaded: number[] = [];
  #turn = 0;

  /** Does both once; neither is always the one that finds the machine awake. */
  async time(plain: () => Promise<unknown>, loaded: () => Promise<unknown>): Promise<void> {
    const pair = [
      [this.#plain, plain],
      [this.#loaded, loaded],
    ] as const;
    for (const [times, work] of this.#turn++ % 2 === 0 ? pair : pair.toReversed()) {
      const startMs = performance.now();
      await work();
      times.push(performance.now() - startMs);
    }
  }

  get samples(): number {
    return this.#loaded.length;
  }

  /**
   * Says so when the load makes the median worse by more than `factor` and `slackMs`. A machine on which the work takes
   * long without the load cannot tell: the load itself may be waiting for a processor.
   */
  objection(factor: number, slackMs: number): string | undefined {
    const plainMs = percentile(this.#plain, 0.5);
    const loadedMs = percentile(this.#loaded, 0.5);
    if (plainMs > TELLING_MS_MAX || loadedMs <= factor * plainMs + slackMs) return undefined;
    return `the median is ${plainMs.toFixed(1)} ms alone and ${loadedMs.toFixed(1)} ms beside the load`;
  }

  toString(): string {
    const said = [0.5, 0.99].map((share) => {
      const [plain, loaded] = [this.#plain, this.#loaded].map((times) => percentile(times, share).toFixed(1));
      return `p${share * 100} ${plain} ms alone, ${loaded} ms beside`;
    });
    return `${this.samples} samples: ${said.join("; ")}`;
  }
}
