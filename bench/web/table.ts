import type { Browser, Page } from "playwright-core";
import { milliseconds, quantile, type Report } from "../report.ts";
import type { BenchServer } from "../server.ts";
import { ask, endFrames, openPage, pause, spread, startFrames, type OpenPage } from "./open-page.ts";

const ANSWER_MS_MAX = 100;
const FRAME_MS = 1_000 / 60;
const BLANK_FRAMES_MAX = 2;
const ROUNDS = 8;
const WARM_UP = 2;
const SCROLL_MS = 5_000;
/** Fast scrolling: 250 rows a second. */
const WHEEL_PX_PER_MS = 7;
const WHEEL_EVERY_MS = 16;
/** No earlier requests must be pending. */
const QUIET_MS = 250;
const JUMPS = [0.5, 1, 0.25, 0.75, 0.1, 0.9, 0.33, 0.66];
const COLUMNS = ["name", "status", "params.p0", "metrics.m1.last", "metrics.m2.last"];

/** The table of very many runs, with the charts of the first ten beside it, as it opens. */
export async function measureTable(
  report: Report,
  browser: Browser,
  server: BenchServer,
  rows: number,
): Promise<void> {
  const path = `/n/bench?cols=${encodeURIComponent(JSON.stringify(COLUMNS))}`;
  const opened = await openPage(browser, server.url + path);
  const { page } = opened;
  await page.locator('[role="row"] a').first().waitFor();
  const query = page.getByRole("combobox", { name: "Query" });
  const unsorted = await ask<string>(page, "probe.firstRows()");
  const total = rows >= 1_000 ? `${rows / 1_000}k` : String(rows);

  const filter = async (i: number) => {
    const from = (i * 7) % 90;
    await query.fill(`metrics.m2.last > 0.${pad(from)} and metrics.m2.last < 0.${pad(from + 4)}`);
    return await timed(page, () => query.press("Enter"));
  };
  await add(report, opened, server, `filter of ${total} runs`, async (i) => [await filter(i)]);
  for (const [what, column] of [
    ["a metric", "m1"],
    ["name", "Run"],
    ["a param", "p0"],
  ] as const) {
    const header = page
      .getByRole("columnheader", { name: new RegExp(`^${column}`) })
      .getByRole("button")
      .first();
    await add(report, opened, server, `sort of ${total} runs by ${what}`, async () => {
      await query.fill("");
      await query.press("Enter");
      await ask(page, `probe.until(() => probe.firstRows() === ${JSON.stringify(unsorted)})`);
      await pause(QUIET_MS);
      const first = await timed(page, () => header.click());
      await pause(QUIET_MS);
      return [first, await timed(page, () => header.click())];
    });
  }
  await query.fill("");
  await query.press("Enter");
  await ask(page, `probe.until(() => probe.firstRows() === ${JSON.stringify(unsorted)})`);
  await measureScrolling(report, opened, total);
  await opened.close();
}

async function add(
  report: Report,
  { page, busySeconds }: OpenPage,
  server: BenchServer,
  what: string,
  once: (round: number) => Promise<number[]>,
): Promise<void> {
  const all: number[] = [];
  let [pageSeconds, serverSeconds] = [0, 0];
  for (let i = 0; i < WARM_UP + ROUNDS; i++) {
    await pause(QUIET_MS);
    const before = [await busySeconds(), server.cpuSeconds()] as const;
    const took = await once(i);
    if (i < WARM_UP) continue;
    pageSeconds += (await busySeconds()) - before[0];
    serverSeconds += server.cpuSeconds() - before[1];
    all.push(...took);
  }
  await page.mouse.move(0, 0);
  const each = (seconds: number) => `${((seconds * 1_000) / all.length).toFixed(0)} ms`;
  report.add({
    what: `web, ${what}, p50`,
    value: quantile(all, 0.5),
    format: milliseconds,
    bar: ANSWER_MS_MAX,
    stretch: ANSWER_MS_MAX / 2,
    better: "lower",
    notes: `${spread(all)}; CPU each: page ${each(pageSeconds)}, server ${each(serverSeconds)}`,
  });
}

async function timed(page: Page, act: () => Promise<void>): Promise<number> {
  await ask(page, "globalThis.changed = probe.rowsChange(); undefined");
  await act();
  return await ask<number>(page, "changed");
}

async function measureScrolling(report: Report, { page }: OpenPage, total: string): Promise<void> {
  const box = (await page.locator('[aria-label="Runs"][aria-rowcount]').boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await pause(QUIET_MS);
  await startFrames(page, true);
  const startMs = performance.now();
  for (let doneMs = 0; doneMs < SCROLL_MS;) {
    // Scrolling does not wait for the browser to finish the last turn.
    const nowMs = performance.now() - startMs;
    await page.mouse.wheel(0, WHEEL_PX_PER_MS * (nowMs - doneMs));
    doneMs = nowMs;
    await pause(WHEEL_EVERY_MS);
  }
  const { frames, blanks, long } = await endFrames(page);
  report.add({
    what: `web, longest time with blank rows in 5 s of scrolling ${total} runs`,
    value: Math.max(0, ...blanks),
    format: milliseconds,
    bar: BLANK_FRAMES_MAX * FRAME_MS,
    stretch: 0,
    better: "lower",
    notes: `${blanks.length} times; row ${await firstSeen(page)} reached`,
  });
  report.add({
    what: "web, frame time while scrolling, p95",
    value: quantile(frames, 0.95),
    format: milliseconds,
    bar: 2 * FRAME_MS,
    stretch: FRAME_MS + 1,
    better: "lower",
    notes: `${spread(frames)}; ${long.length} tasks over 50 ms, ${sum(long).toFixed(0)} ms in all`,
  });
  const jumps: number[] = [];
  for (const part of JUMPS) {
    jumps.push(await ask<number>(page, `probe.jump(${part})`));
    await pause(QUIET_MS);
  }
  report.add({
    what: `web, rows after a jump in ${total} runs, p50`,
    value: quantile(jumps, 0.5),
    format: milliseconds,
    bar: ANSWER_MS_MAX,
    stretch: ANSWER_MS_MAX / 2,
    better: "lower",
    notes: spread(jumps),
  });
}

async function firstSeen(page: Page): Promise<number> {
  return await ask<number>(
    page,
    `Math.floor(document.querySelector('[aria-label="Runs"][aria-rowcount]').scrollTop / 28)`,
  );
}

const pad = (percent: number) => String(percent).padStart(2, "0");
const sum = (values: readonly number[]) => values.reduce((all, each) => all + each, 0);
