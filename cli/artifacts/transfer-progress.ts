import type { Cli } from "../cli.ts";
import { formatBytes } from "#lang/words/numbers.ts";
import type { Progress } from "../output/progress.ts";

/** How far the bytes of one or more files are, with their rate. */
export class TransferProgress {
  readonly #progress: Progress;
  readonly #totalBytes: number;
  readonly #started = performance.now();
  #bytes = 0;
  /** Those that count for the rate: not what was there before. */
  #moved = 0;

  constructor(cli: Cli, title: string, totalBytes: number) {
    this.#progress = cli.progress(title, totalBytes);
    this.#totalBytes = totalBytes;
  }

  add(count: number, { moved = true }: { moved?: boolean } = {}): void {
    this.#bytes += count;
    if (moved) this.#moved += count;
    this.#progress.update(this.#bytes, { note: ` ${this.rate}, ${formatBytes(this.#totalBytes)} in all` });
  }

  get rate(): string {
    const seconds = (performance.now() - this.#started) / 1000;
    return `${formatBytes(Math.max(0, this.#moved) / Math.max(seconds, 0.001))}/s`;
  }

  end(): void {
    this.#progress.end();
  }
}
