import type { Browser, Page } from "playwright-core";
import { milliseconds, quantile, type Report } from "../report.ts";
import type { BenchServer } from "../server.ts";
import { startRun } from "./log-points.ts";
import { ask, endFrames, openPage, pause, spread, startFrames, type Frames } from "./open-page.ts";

const PAINTED_MS_MAX = 1_500;
const FRAME_MS = 1_000 / 60;
const METRICS = 12;
const POINTS = 10_000;
const OPENINGS = 3;
const MOVES_MS = 3_000;
const ZOOMS = 6;
const ZOOM_EVERY_MS = 500;
/** Twelve charts are visible at once. */
const WINDOW = { width: 1920, height: 1080 };
const NAMESPACE = "charts";

/** 100 runs by 12 metrics by 10,000 points on one screen. */
export async function measureCharts(
  report: Report,
  browser: Browser,
  server: BenchServer,
  runs: number,
): Promise<void> {
  process.stderr.write(`logging ${runs} runs by ${METRICS} metrics by ${POINTS} points\n`);
  const ids = await logRuns(server, runs);
  const show = encodeURIComponent(JSON.stringify(ids));
  const url = `${server.url}/n/${NAMESPACE}?split=25&show=${show}`;
  const openings: Opening[] = [];
  for (let i = 0; i < OPENINGS; i++) openings.push(await openCharts(browser, server, url, runs));
  const median = openings.toSorted((a, b) => a.ms - b.ms)[Math.floor(OPENINGS / 2)]!;
  report.add({
    what: `web, ${METRICS} charts of ${runs} runs with ${POINTS / 1_000}k points painted, median of ${OPENINGS}`,
    value: median.ms,
    format: milliseconds,
    bar: PAINTED_MS_MAX,
    stretch: PAINTED_MS_MAX / 2,
    better: "lower",
    notes: [
      `${(median.bytes / 1e6).toFixed(1)} MB moved, ${median.reads} reads of points in ${median.calls} calls`,
      `CPU: page ${(median.pageSeconds * 1_000).toFixed(0)} ms, server ${(median.serverSeconds * 1_000).toFixed(0)} ms`,
      `slowest ${Math.max(...openings.map(({ ms }) => ms)).toFixed(0)} ms`,
    ].join("; "),
  });
  const opened = await openPage(browser, url, WINDOW);
  const { page } = opened;
  await ask(page, `probe.chartsOf(${METRICS}, ${runs})`);
  const painted = await ask<number>(page, "probe.paintedCharts()");
  if (painted < METRICS) throw new Error(`${painted} of ${METRICS} charts hold a line`);
  for (const [what, act] of [
    ["hovering over", hover],
    ["zooming", zoom],
    ["dragging with Shift over", pan],
  ] as const) {
    await pause(500);
    const before = await opened.busySeconds();
    await startFrames(page);
    await act(page);
    const seen = await endFrames(page);
    addFrames(
      report,
      `web, frame time while ${what} ${METRICS} charts, p95`,
      seen,
      (await opened.busySeconds()) - before,
    );
  }
  await opened.close();
}

async function logRuns(server: BenchServer, runs: number): Promise<string[]> {
  const ids: string[] = [];
  for (let i = 0; i < runs; i++) {
    const run = await startRun(server, NAMESPACE, `run-${i}`, METRICS);
    await run.log(POINTS / 2);
    await run.log(POINTS / 2);
    run.close();
    ids.push(run.id);
  }
  return ids;
}

interface Opening {
  ms: number;
  bytes: number;
  calls: number;
  reads: number;
  pageSeconds: number;
  serverSeconds: number;
}

/** From the navigation of an empty browser to the paint of the last chart. */
async function openCharts(
  browser: Browser,
  server: BenchServer,
  url: string,
  runs: number,
): Promise<Opening> {
  const opened = await openPage(browser, "about:blank", WINDOW);
  const { page, debug } = opened;
  let [bytes, calls, reads] = [0, 0, 0];
  await debug.send("Network.enable");
  debug.on("Network.loadingFinished", ({ encodedDataLength }) => (bytes += encodedDataLength));
  debug.on("Network.requestWillBeSent", ({ request }) => {
    if (request.method === "POST") calls++;
    if (request.url.endsWith("/ReadSeries")) reads++;
  });
  const before = server.cpuSeconds();
  await page.goto(url, { waitUntil: "commit" });
  const ms = await ask<number>(page, `probe.chartsOf(${METRICS}, ${runs})`);
  const opening = {
    ms,
    bytes,
    calls,
    reads,
    pageSeconds: await opened.busySeconds(),
    serverSeconds: server.cpuSeconds() - before,
  };
  await opened.close();
  return opening;
}

/** To and fro over one chart, as quickly as the browser takes it. */
async function hover(page: Page): Promise<void> {
  const box = (await page.locator('[role="img"][aria-label*=" by step, "]').first().boundingBox())!;
  const endMs = performance.now() + MOVES_MS;
  for (let i = 0; performance.now() < endMs; i++) {
    const part = 0.5 + 0.4 * Math.sin(i / 20);
    await page.mouse.move(box.x + part * box.width, box.y + (0.3 + 0.4 * part) * box.height);
    await pause(FRAME_MS);
  }
  await page.mouse.move(0, 0);
}

/** Into one chart step by step, which zooms all. */
async function zoom(page: Page): Promise<void> {
  await page.locator('[role="img"][aria-label*=" by step, "]').first().focus();
  for (let i = 0; i < ZOOMS; i++) {
    await page.keyboard.press("+");
    await pause(ZOOM_EVERY_MS);
  }
}

/** The zoomed part to and fro. */
async function pan(page: Page): Promise<void> {
  const box = (await page.locator('[role="img"][aria-label*=" by step, "]').first().boundingBox())!;
  const y = box.y + box.height / 2;
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width / 2, y);
  await page.mouse.down();
  const endMs = performance.now() + MOVES_MS;
  for (let i = 1; performance.now() < endMs; i++) {
    await page.mouse.move(box.x + (0.5 + 0.3 * Math.sin(i / 20)) * box.width, y);
    await pause(FRAME_MS);
  }
  await page.mouse.up();
  await page.keyboard.up("Shift");
}

function addFrames(report: Report, what: string, { frames, long }: Frames, busySeconds: number): void {
  const all = long.reduce((sum, each) => sum + each, 0);
  const spent = frames.reduce((sum, each) => sum + each, 0);
  report.add({
    what,
    value: quantile(frames, 0.95),
    format: milliseconds,
    bar: 2 * FRAME_MS,
    stretch: FRAME_MS + 1,
    better: "lower",
    notes: `${spread(frames)}; ${long.length} tasks over 50 ms, ${all.toFixed(0)} ms in all; page's thread busy ${Math.round((100_000 * busySeconds) / spent)} %`,
  });
}
