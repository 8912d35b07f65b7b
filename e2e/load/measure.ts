import { readFileSync } from "node:fs";

/** The environment of a server with the flags that `npm start` gives it, and more. */
export function asNpmStart(...more: string[]): NodeJS.ProcessEnv {
  const manifest = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const { scripts } = JSON.parse(manifest) as { scripts: { start: string } };
  const flags = scripts.start.match(/--\S+/g) ?? [];
  return {
    ...process.env,
    NODE_OPTIONS: [process.env["NODE_OPTIONS"] ?? "", ...flags, ...more].join(" ").trim(),
  };
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

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/**
 * Latencies of the same work done in turn with and without a load, so that whatever else the machine does
 * falls on both alike. They are kept in windows: a burst of something else spoils one window and not the
 * verdict.
 */
export class Paired {
  readonly #windowMs: number;
  readonly #startMs = performance.now();
  readonly #windows: { plain: number[]; loaded: number[] }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  async time(which: "plain" | "loaded", work: () => Promise<unknown>): Promise<void> {
    const startMs = performance.now();
    await work();
    const endMs = performance.now();
    const at = Math.floor((endMs - this.#startMs) / this.#windowMs);
    const window = (this.#windows[at] ??= { plain: [], loaded: [] });
    window[which].push(endMs - startMs);
  }

  /** Of all, and the median of what the windows say about how much the load costs. */
  summary(share: number): { plainMs: number; loadedMs: number; ratio: number; samples: number } {
    const windows = this.#windows.filter((window) => window !== undefined && window.plain.length >= 20);
    const ratios = windows.map(({ plain, loaded }) => percentile(loaded, share) / percentile(plain, share));
    const loaded = windows.flatMap((window) => window.loaded);
    return {
      plainMs: percentile(
        windows.flatMap((window) => window.plain),
        share,
      ),
      loadedMs: percentile(loaded, share),
      ratio: median(ratios),
      samples: loaded.length,
    };
  }

  /**
   * Whether the load makes it worse by more than `factor`, beyond doubt: over all, in most windows, and by
   * more than a scheduler's whim.
   */
  isBreached(share: number, factor: number, slackMs: number): boolean {
    const { plainMs, loadedMs, ratio } = this.summary(share);
    return ratio > factor && loadedMs > factor * plainMs && loadedMs - plainMs > slackMs;
  }
}
