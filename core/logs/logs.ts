import type { Caller } from "../access/caller.ts";
import { CairnError } from "#lang/errors.ts";
import { limits } from "#lang/limits.ts";
import { checkedFilter, checkedFrom, type LogFilter, type LogLine } from "../types/log.ts";
import type { RunRef } from "#lang/run-ref.ts";
import { ENDED } from "#lang/statuses.ts";
import type { FoundLines, LogPage, LogStore } from "../ports/log-store.ts";
import type { Runs } from "../runs/runs.ts";
import type { Changes } from "../watch/changes.ts";
import { Lanes } from "#base/lanes.ts";
import { linePattern, type AskedPattern } from "./line-pattern.ts";

/** An idle stream sends keep-alives this often: some connections are cut when they are idle. */
const SIGN_OF_LIFE_MS = 15_000;

/** Pages for tails that are read at the same time; the others wait, and block nothing. */
const TAILS_AT_ONCE = 4;

export interface ReadLines {
  run: RunRef;
  filter: LogFilter;
  /** Below 0: counted from the end. */
  from: number;
  /** 0 for the default. */
  limit: number;
}

export type SearchLines = ReadLines & AskedPattern;

export interface TailLines {
  run: RunRef;
  filter: LogFilter;
  /** undefined for new lines only. */
  from: number | undefined;
  /** Continue when the run has ended. */
  follow: boolean;
}

export interface TailedLines {
  lines: LogLine[];
  /** Where to resume after a disconnect. */
  next: number;
}

/** The logs of runs. */
export class Logs {
  readonly #store: LogStore;
  readonly #runs: Runs;
  readonly #changes: Changes;
  /** A page has up to 4 MiB, and thousands of callers may request one at the same moment. */
  readonly #tails = new Lanes(TAILS_AT_ONCE);

  constructor(parts: { store: LogStore; runs: Runs; changes: Changes }) {
    this.#store = parts.store;
    this.#runs = parts.runs;
    this.#changes = parts.changes;
  }

  async read(caller: Caller, request: ReadLines): Promise<LogPage> {
    const filter = checkedFilter(request.filter);
    const from = checkedFrom(request.from);
    const limit = checkedLimit(request.limit);
    const runId = await this.#runs.locate(caller, request.run);
    return this.#store.readLog({ runId, filter, from, limit }, caller.signal);
  }

  async search(caller: Caller, request: SearchLines): Promise<FoundLines> {
    const pattern = linePattern(request);
    const filter = checkedFilter(request.filter);
    const from = checkedFrom(request.from);
    const limit = checkedLimit(request.limit);
    const runId = await this.#runs.locate(caller, request.run);
    return this.#store.searchLog({ runId, filter, from, limit, pattern }, caller.signal);
  }

  /**
   * The requested lines, then lines as they are acknowledged. The first answer comes at once, with or
   * without lines; from then on nothing is missed. An answer without lines is a keep-alive. Nothing is
   * read before the answer before was consumed, so a slow reader costs no memory. A caller that may no longer
   * read the run gets the error of a read. Ends when the run has ended and everything was sent, unless
   * the caller follows it further; `aborted` by the signal, `unavailable` when the server stops.
   */
  async *tail(caller: Caller, request: TailLines, signal: AbortSignal): AsyncGenerator<TailedLines> {
    const filter = checkedFilter(request.filter);
    const next = request.from === undefined ? undefined : checkedFrom(request.from);
    const { id } = await this.#runs.whereIs(caller, request.run);
    const run: RunRef = { by: "id", id };
    const subscription = this.#changes.subscribe({ runs: [id], signal });
    try {
      let from: number = next ?? (await this.#store.lineCount(id));
      for (let started = false, quiet = false, hadEnded = false; ; started = true) {
        const limit = limits.logLinesDefault;
        const asked = { runId: id, filter, from, limit };
        const page: LogPage = await this.#tails.run(() => this.#store.readLog(asked, signal));
        // After the lines: rights may have changed, and the run may have been moved, while they were read.
        const hasEnded = ENDED.has((await this.#runs.getHead(caller, run)).status);
        from = page.next;
        if (page.lines.length > 0 || !started || quiet) yield { lines: page.lines, next: from };
        // No line is written after the end, but some may have been between these lines and it.
        if (!page.more && hadEnded && hasEnded && !request.follow) return;
        const isLast = hasEnded && !request.follow;
        hadEnded = hasEnded;
        // Also with more to send: a stop or an abort is noticed while waiting.
        const notified = await subscription.wait(page.more || isLast ? 0 : SIGN_OF_LIFE_MS);
        quiet = !notified && !page.more && !isLast;
      }
    } finally {
      subscription.close();
    }
  }
}

function checkedLimit(limit: number): number {
  if (limit === 0) return limits.logLinesDefault;
  if (Number.isInteger(limit) && limit > 0 && limit <= limits.logLinesMax) return limit;
  throw new CairnError("invalid", `cannot return ${limit} lines: the most is ${limits.logLinesMax}`);
}
