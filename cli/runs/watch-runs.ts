import { setTimeout as sleep } from "node:timers/promises";
import type { Cairn } from "#sdk/client.ts";
import { searchRuns, type FoundRuns } from "#sdk/pages.ts";
import { retry } from "#sdk/retry.ts";
import { watch } from "#sdk/watch.ts";
import { CommandError, EXIT, type Cli } from "../cli.ts";
import { countOf, formatCount } from "#lang/words/numbers.ts";
import { cut, paint, printable, widthOf } from "../output/text.ts";
import { openScreen, type Screen } from "../screen/screen.ts";
import type { ChosenColumns } from "./choose-columns.ts";
import { runTable } from "./run-table.ts";
import { columnsFor, type RunSearch } from "./search-runs.ts";

/** Changes within this time are read together. */
const REFRESH_MS_MIN = 250;
/** Ages are updated also when nothing changes. */
const REDRAW_MS = 1_000;
/** With a metric column, the watch includes points, also of other metrics, such as the first of a new run. */
const ANY_METRIC = "metrics.loss.last";
/** Lines beside the rows: title, heads, an empty one, summary. */
const OTHER_LINES = 5;
const ROWS_MIN = 3;

export interface WatchedColumns {
  chosen: ChosenColumns;
  found: FoundRuns;
}

export interface WatchRunsOptions {
  search: RunSearch;
  /** Whether the columns are the default ones. */
  isFree: boolean;
  /** Chooses columns for runs that were found with all their params. */
  choose(found: FoundRuns, search: RunSearch): Promise<WatchedColumns>;
}

/** The list on a screen of its own. It is read again when the Watch stream reports a change, and is not polled. */
export async function watchRuns(cli: Cli, server: Cairn, options: WatchRunsOptions): Promise<void> {
  if (!cli.isTerminal) {
    throw new CommandError("cannot watch: standard output is not a terminal", {
      exitCode: EXIT.usage,
      hint: "leave out --watch, or use `cairn ls --json` in a script",
    });
  }
  const list = new WatchedList(cli, server, options);
  // Before the screen is opened, so that a query error stays visible.
  await list.read();
  await list.run();
}

function hasMetric({ fields }: ChosenColumns): boolean {
  return fields.some(({ of }) => of === "metric" || of === "best");
}

class WatchedList {
  readonly #cli: Cli;
  readonly #server: Cairn;
  readonly #options: WatchRunsOptions;
  readonly #quit = new AbortController();
  #shown: WatchedColumns | undefined;
  #ids = "";
  readonly #troubles = { stream: "", read: "" };
  #screen: Screen | undefined;
  #wake: (() => void) | undefined;
  #isStale = false;

  constructor(cli: Cli, server: Cairn, options: WatchRunsOptions) {
    this.#cli = cli;
    this.#server = server;
    this.#options = options;
  }

  /** Reads the list again; columns are chosen again when its runs change, and until there is a metric to show. */
  async read(): Promise<void> {
    const room = (this.#screen?.rows ?? this.#cli.surroundings.stdout.rows ?? 0) - OTHER_LINES;
    const search = {
      ...this.#options.search,
      pageSize: Math.min(this.#options.search.pageSize, Math.max(ROWS_MIN, room)),
    };
    const before = this.#shown?.chosen;
    const columns = before === undefined ? ["params"] : ["params", ...columnsFor(before.fields)];
    const found = await searchRuns(this.#server, { ...search, columns });
    const ids = found.runs.map(({ id }) => id).join();
    const isKnown = before !== undefined && ids === this.#ids && (hasMetric(before) || !this.#options.isFree);
    this.#shown = isKnown ? { chosen: before, found } : await this.#options.choose(found, search);
    this.#ids = ids;
  }

  async run(): Promise<void> {
    const stop = AbortSignal.any([this.#cli.interrupted, this.#quit.signal]);
    using screen = openScreen({
      onKey: (key) => {
        if (key === "q" || key === "escape") this.#quit.abort();
      },
      onResize: () => this.#changed(),
    });
    this.#screen = screen;
    const redraw = setInterval(() => this.#draw(), REDRAW_MS);
    try {
      this.#draw();
      await Promise.all([this.#listen(stop), this.#refresh(stop)]);
    } catch (thrown) {
      if (!stop.aborted) throw thrown;
    } finally {
      clearInterval(redraw);
      this.#quit.abort();
      this.#changed();
    }
  }

  #changed(): void {
    this.#isStale = true;
    this.#wake?.();
  }

  /** Reads when something has changed, at most every REFRESH_MS_MIN. */
  async #refresh(stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      if (!this.#isStale) {
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        stop.addEventListener("abort", () => resolve(), { once: true });
        await promise;
        continue;
      }
      this.#isStale = false;
      await retry(() => this.read(), {
        signal: stop,
        url: this.#server.url,
        onFailure: ({ message }) => this.#complain("read", message),
      });
      this.#complain("read", "");
      await sleep(REFRESH_MS_MIN, undefined, { signal: stop });
    }
  }

  async #listen(stop: AbortSignal): Promise<void> {
    const { query, namespace } = this.#options.search;
    const columns = columnsFor(this.#shown?.chosen.fields ?? []);
    if (this.#options.isFree) columns.push(ANY_METRIC);
    const request = { runs: { query, namespace, columns }, position: this.#shown?.found.position ?? "" };
    const events = watch(this.#server, request, {
      signal: stop,
      onConnection: ({ failure }) => this.#complain("stream", failure?.message ?? ""),
    });
    for await (const { event } of events) {
      if (event.case !== "started" && event.case !== "still") this.#changed();
    }
  }

  /** A failure is shown until it is over. */
  #complain(what: "read" | "stream", message: string): void {
    this.#troubles[what] = printable(message.split("\n")[0]!);
    this.#draw();
  }

  #draw(): void {
    const screen = this.#screen;
    if (screen === undefined || this.#shown === undefined) return;
    const { chosen, found } = this.#shown;
    const { colour } = this.#cli;
    const { columns } = screen;
    const { query, namespace } = this.#options.search;
    const body = runTable(found.runs, chosen, { colour, columns, nowMs: Date.now(), under: namespace });
    const title = cut(printable([namespace, query].filter(Boolean).join("  ") || "all runs"), columns - 12);
    const clock = new Date().toTimeString().slice(0, 8);
    const gap = " ".repeat(Math.max(1, columns - widthOf(title) - clock.length));
    const count =
      found.runs.length < found.totalCount
        ? `${formatCount(found.runs.length)} of ${countOf(found.totalCount, "run")}`
        : countOf(found.totalCount, "run");
    const trouble = this.#troubles.stream || this.#troubles.read;
    const state = trouble === "" ? "live" : `waiting: ${trouble}`;
    screen.draw([
      `${paint(colour, "bold", title)}${gap}${paint(colour, "dim", clock)}`,
      ...body.split("\n"),
      "",
      `${count} · ${paint(colour, trouble === "" ? "green" : "yellow", state)} · q quits`,
    ]);
  }
}
