import type { Output } from "../surroundings.ts";
import { cut, printable } from "./text.ts";

const REDRAW_MS = 100;
/** Shorter tasks show no progress. */
const QUIET_MS = 500;
const BAR_WIDTH = 24;

/** A progress line on a terminal, and nothing elsewhere. */
export class Progress {
  readonly #title: string;
  #total: number | undefined;
  readonly #stream: Output | undefined;
  readonly #started = performance.now();
  #drawn = -Infinity;
  #done = 0;
  #shown = false;

  constructor(title: string, total: number | undefined, stream: Output | undefined) {
    this.#title = title;
    this.#total = total;
    this.#stream = stream;
  }

  /** `done` of the total; `note` adds a detail, such as the name of a file. */
  update(
    done: number,
    { total = this.#total, note = "" }: { total?: number | undefined; note?: string } = {},
  ): void {
    this.#done = done;
    this.#total = total;
    const now = performance.now();
    if (this.#stream === undefined || now - this.#started < QUIET_MS || now - this.#drawn < REDRAW_MS) return;
    this.#drawn = now;
    // So that the line is empty if the program ends now.
    if (!this.#shown) process.once("exit", this.#clear);
    this.#shown = true;
    const columns = this.#stream.columns || 80;
    this.#stream.write(`\r\u001b[K${cut(printable(this.#line(note)), columns - 1)}`);
  }

  add(count: number, note = ""): void {
    this.update(this.#done + count, { note });
  }

  /** Takes the line away. */
  end(): void {
    if (!this.#shown) return;
    this.#shown = false;
    process.off("exit", this.#clear);
    this.#clear();
  }

  readonly #clear = () => void this.#stream?.write("\r\u001b[K");

  #line(note: string): string {
    const seconds = (performance.now() - this.#started) / 1000;
    if (this.#total === undefined || this.#total <= 0) return `${this.#title} ${this.#done} ${note}`;
    const share = Math.min(1, this.#done / this.#total);
    const filled = Math.round(share * BAR_WIDTH);
    const bar = "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
    const left = share > 0.02 ? ` ${Math.ceil(seconds / share - seconds)} s left` : "";
    return `${this.#title} ${bar} ${Math.floor(share * 100)} %${left} ${note}`;
  }
}
