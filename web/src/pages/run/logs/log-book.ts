import type { LogLine } from "#proto/cairn/v1/log_pb.ts";

export interface LogRead {
  lines: readonly LogLine[];
  next: bigint;
  total: bigint;
  more: boolean;
}

/** A range of lines, or with a `from` below 0 the last ones. */
export type ReadLines = (from: bigint, limit: number) => Promise<LogRead>;

export const PAGE_LINES = 500;
/** The cache size: far more than is visible at once, and far less than a log can hold. */
const PAGES_MAX = 200;

type Page =
  | { state: "reading" }
  /** Missing lines below `readTo` are damaged. */
  | { state: "read"; lines: (LogLine | undefined)[]; readTo: number }
  | { state: "failed"; error: unknown };

/**
 * The lines of a log viewer. Lines are numbered without gaps, so each has a known position; pages are read when they
 * scroll into view, and evicted when many others have been used since.
 */
export class LogBook {
  readonly #read: ReadLines;
  readonly #onChange: () => void;
  /** In the order of last use. */
  readonly #pages = new Map<number, Page>();
  readonly ranks = new Set<number>();
  readonly streams = new Set<string>();
  total = 0;
  /** Changes with everything that requires a redraw. */
  version = 0;

  constructor(read: ReadLines, onChange: () => void) {
    this.#read = read;
    this.#onChange = onChange;
  }

  /** How long the log is, and its end. Returns the number of the line that comes next. */
  async open(): Promise<bigint> {
    const { lines, total } = await this.#read(BigInt(-PAGE_LINES), PAGE_LINES);
    this.#grow(Number(total));
    this.#keep(lines);
    this.#notify();
    return total;
  }

  lineAt(number: number): LogLine | undefined {
    const page = this.#pages.get(Math.floor(number / PAGE_LINES));
    return page?.state === "read" ? page.lines[number % PAGE_LINES] : undefined;
  }

  errorAt(number: number): unknown {
    const page = this.#pages.get(Math.floor(number / PAGE_LINES));
    return page?.state === "failed" ? page.error : undefined;
  }

  /** These lines are about to be drawn, both ends included. */
  want(first: number, last: number): void {
    for (let at = Math.floor(first / PAGE_LINES); at <= Math.floor(last / PAGE_LINES); at++) {
      const page = this.#pages.get(at);
      if (page !== undefined) {
        this.#pages.delete(at);
        this.#pages.set(at, page);
        if (page.state !== "read" || this.#isWhole(at, page.lines, page.readTo)) continue;
      }
      if (at >= 0 && at * PAGE_LINES < this.total) void this.#readPage(at);
    }
  }

  /** Retries failed reads. */
  retry(): void {
    for (const [at, page] of this.#pages) if (page.state === "failed") this.#pages.delete(at);
    this.#notify();
  }

  append(lines: readonly LogLine[]): void {
    const last = lines.at(-1);
    if (last === undefined) return;
    this.#grow(Number(last.number) + 1);
    this.#keep(lines);
    this.#notify();
  }

  #isWhole(at: number, lines: readonly (LogLine | undefined)[], readTo: number): boolean {
    const start = at * PAGE_LINES;
    const length = Math.min(PAGE_LINES, this.total - start);
    for (let i = Math.max(0, readTo - start); i < length; i++) if (lines[i] === undefined) return false;
    return true;
  }

  async #readPage(at: number): Promise<void> {
    const kept = this.#pages.get(at);
    this.#pages.set(at, { state: "reading" });
    const end = BigInt((at + 1) * PAGE_LINES);
    try {
      let from = BigInt(at * PAGE_LINES);
      const found: LogLine[] = kept?.state === "read" ? kept.lines.filter((line) => line !== undefined) : [];
      // A page of the server ends early when its lines are long.
      while (from < end) {
        const { lines, next, more } = await this.#read(from, Number(end - from));
        found.push(...lines);
        if (next <= from) break;
        from = next;
        if (!more) break;
      }
      this.#pages.set(at, { state: "read", lines: Array.from({ length: PAGE_LINES }), readTo: Number(from) });
      this.#keep(found);
    } catch (error) {
      this.#pages.set(at, { state: "failed", error });
    }
    this.#forget();
    this.#notify();
  }

  #keep(lines: readonly LogLine[]): void {
    for (const line of lines) {
      const number = Number(line.number);
      const at = Math.floor(number / PAGE_LINES);
      let page = this.#pages.get(at);
      if (page?.state !== "read") {
        // While it is being read, the answer has this line as well, or the next check finds that it is missing.
        if (page?.state === "reading") continue;
        page = { state: "read", lines: Array.from({ length: PAGE_LINES }), readTo: 0 };
        this.#pages.set(at, page);
      }
      page.lines[number % PAGE_LINES] = line;
      if (line.rank !== undefined) this.ranks.add(line.rank);
      this.streams.add(line.stream);
    }
    this.#forget();
  }

  #grow(total: number): void {
    if (total > this.total) this.total = total;
  }

  #forget(): void {
    for (const [at, page] of this.#pages) {
      if (this.#pages.size <= PAGES_MAX) return;
      if (page.state !== "reading") this.#pages.delete(at);
    }
  }

  #notify(): void {
    this.version++;
    this.#onChange();
  }
}
