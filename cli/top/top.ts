import type { Cli } from "../cli.ts";
import { jsonRun } from "../output/json-run.ts";
import { isoTime } from "#lang/words/times.ts";
import { hasUnicode } from "../plot/style.ts";
import { openScreen } from "../screen/screen.ts";
import { renderTop, topTable, type TopLook } from "./render-top.ts";
import { TopFeed, type FeedOptions } from "./top-feed.ts";
import { TopState } from "./top-state.ts";

/** Ages are updated also when nothing changes. */
const REDRAW_MS = 1_000;
/** More often would not be readable. */
const FRAME_MS_MIN = 100;

/** The live view, until the user quits. */
export async function showTop(cli: Cli, options: FeedOptions): Promise<void> {
  const server = await cli.connect();
  const state = new TopState();
  const quit = new AbortController();
  const stop = AbortSignal.any([cli.interrupted, quit.signal]);
  let frame: NodeJS.Timeout | undefined;
  const drawSoon = () => (frame ??= setTimeout(draw, FRAME_MS_MIN));
  const feed = new TopFeed(server, state, options, drawSoon);
  // Before the screen is opened, so that an error of query or token stays visible.
  await feed.read();
  using screen = openScreen({
    onKey: (key) => {
      const done = state.press(key);
      if (done === "quit") quit.abort();
      if (done === "details") void feed.loadDetails(state.selected!).catch(() => {});
      draw();
    },
    onResize: () => draw(),
  });
  function draw(): void {
    clearTimeout(frame);
    frame = undefined;
    if (stop.aborted) return;
    state.tidy(Date.now());
    screen.draw(renderTop(state, lookOf(cli, screen.columns, screen.rows)));
  }
  const redraw = setInterval(draw, REDRAW_MS);
  try {
    draw();
    await feed.run(stop);
  } finally {
    clearInterval(redraw);
    clearTimeout(frame);
  }
}

/** The running runs, printed once. */
export async function printTop(cli: Cli, options: FeedOptions): Promise<void> {
  const state = new TopState();
  const feed = new TopFeed(await cli.connect(), state, options, () => {});
  await feed.read();
  const rows = state.visible();
  if (cli.options.json === true) {
    cli.printJson({
      totalCount: state.matching,
      runs: rows.map((row) => {
        const metrics = row
          .shown(Math.max(2, options.metrics.length))
          .map((key) => [key, row.keys.get(key)!.history.last] as const);
        return {
          ...jsonRun(row.run),
          step: row.step ?? null,
          stepsPerSecond: row.pace ?? null,
          seen: isoTime(Math.round(row.seenMs * 1000)) ?? null,
          last: Object.fromEntries(metrics),
        };
      }),
    });
    return;
  }
  if (rows.length === 0) cli.print("nothing is running");
  else cli.print(topTable(rows, lookOf(cli, cli.columns, Infinity)).join("\n"));
}

function lookOf(cli: Cli, columns: number, rows: number): TopLook {
  return {
    columns,
    rows,
    colour: cli.colour,
    unicode: hasUnicode(cli.env),
    colourDepth: cli.colourDepth ?? 1,
    nowMs: Date.now(),
  };
}
