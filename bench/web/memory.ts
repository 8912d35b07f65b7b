import type { Browser, Page, Request } from "playwright-core";
import { megabytes, type Report } from "../report.ts";
import type { BenchServer } from "../server.ts";
import { startRun, type LoggedRun } from "./log-points.ts";
import { ask, openPage, pause, type OpenPage } from "./open-page.ts";

const RUNS = 20;
const METRICS = 10;
const HOUR_POINTS = 3_600;
/** Logged before the page is opened, so that lines have their full resolution from the start. */
const BEFORE_POINTS = 1_500;
const HOUR_MS = 60_000;
const ROUNDS = 240;
const NAMESPACE = "hour";
const PROGRESS_EVERY = 40;
/** Longer than the pause of the page between two reads. */
const QUIET_MS = 2_000;
const REST_MS_MAX = 15_000;
/** The allowed growth in an hour, as a share. */
const GROWTH_MAX = 0.1;

interface Held {
  heapBytes: number;
  /** Of typed arrays, which are not on the heap. */
  arrayBytes: number;
  nodes: number;
}

/** An hour of 20 runs that log 10 metrics once a second, in a minute, before an open page. */
export async function measureMemory(
  report: Report,
  browser: Browser,
  server: BenchServer,
  scale: number,
): Promise<void> {
  const runs: LoggedRun[] = [];
  for (let i = 0; i < RUNS; i++) runs.push(await startRun(server, NAMESPACE, `run-${i}`, METRICS));
  await Promise.all(runs.map((run) => run.log(BEFORE_POINTS)));
  const show = encodeURIComponent(JSON.stringify(runs.map(({ id }) => id)));
  const opened = await openPage(browser, `${server.url}/n/${NAMESPACE}?split=25&show=${show}`, {
    width: 1920,
    height: 1080,
  });
  const rest = watchReads(opened.page);
  await ask(opened.page, `probe.chartsOf(${METRICS}, ${RUNS})`);
  const rounds = Math.round(ROUNDS * scale);
  const points = HOUR_POINTS / ROUNDS;
  const held: Held[] = [];
  const busyBefore = await opened.busySeconds();
  const startMs = performance.now();
  for (let round = 0; round < rounds; round++) {
    if (round % PROGRESS_EVERY === 0)
      process.stderr.write(`live data: ${round} of ${rounds} quarter minutes\n`);
    if (round === Math.round(rounds * 0.1) || round === Math.round(rounds * 0.5))
      held.push(await weigh(opened, rest));
    const dueMs = startMs + (round * HOUR_MS) / ROUNDS;
    await Promise.all([...runs.map((run) => run.log(points)), pause(Math.max(0, dueMs - performance.now()))]);
  }
  const seconds = (performance.now() - startMs) / 1_000;
  const busySeconds = (await opened.busySeconds()) - busyBefore;
  held.push(await weigh(opened, rest));
  for (const run of runs) run.close();
  await opened.close();
  const bytes = held.map(({ heapBytes, arrayBytes }) => heapBytes + arrayBytes);
  const slope = (bytes[2]! - bytes[0]!) / 0.9;
  report.add({
    what: "web, memory that an hour of 20 live runs adds to an open page",
    value: slope / bytes[0]!,
    format: (value) => `${(100 * value).toFixed(1)} %`,
    bar: GROWTH_MAX,
    stretch: GROWTH_MAX / 5,
    better: "lower",
    notes: [
      `at 6, 30 and 60 min heap ${list(held.map(({ heapBytes }) => heapBytes))}`,
      `arrays ${list(held.map(({ arrayBytes }) => arrayBytes))}`,
      `nodes ${held.map(({ nodes }) => nodes).join(", ")}`,
      `slope ${(slope / 2 ** 20).toFixed(2)} MB an hour`,
      `sent in ${seconds.toFixed(0)} s, page's thread busy ${Math.round((100 * busySeconds) / seconds)} %`,
    ].join("; "),
  });
}

/** The memory after garbage collection. */
async function weigh({ debug }: OpenPage, rest: () => Promise<void>): Promise<Held> {
  await rest();
  // Memory that a finalizer releases is collected by the next one.
  await debug.send("HeapProfiler.collectGarbage");
  await debug.send("HeapProfiler.collectGarbage");
  const { usedSize, backingStorageSize } = (await debug.send("Runtime.getHeapUsage")) as {
    usedSize: number;
    backingStorageSize: number;
  };
  const { nodes } = await debug.send("Memory.getDOMCounters");
  return { heapBytes: usedSize, arrayBytes: backingStorageSize, nodes };
}

/** Returns a function that waits until no points are loading, which would count in addition to those they replace. */
function watchReads(page: Page): () => Promise<void> {
  const waiting = new Set<Request>();
  let changedMs = performance.now();
  page.on("request", (request) => {
    if (!request.url().endsWith("/ReadSeries")) return;
    waiting.add(request);
    changedMs = performance.now();
  });
  const end = (request: Request) => {
    if (waiting.delete(request)) changedMs = performance.now();
  };
  page.on("requestfinished", end);
  page.on("requestfailed", end);
  return async () => {
    const lateMs = performance.now() + REST_MS_MAX;
    const isQuiet = () => waiting.size === 0 && performance.now() - changedMs >= QUIET_MS;
    while (!isQuiet() && performance.now() < lateMs) await pause(QUIET_MS / 10);
  };
}

function list(bytes: readonly number[]): string {
  return bytes.map((each) => megabytes(each)).join(", ");
}
