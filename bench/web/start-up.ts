import type { Browser } from "playwright-core";
import { milliseconds, quantile, type Report } from "../report.ts";
import type { BenchServer } from "../server.ts";
import { startCountingProxy } from "./counting-proxy.ts";
import { ask, openPage, pause } from "./open-page.ts";

const FIRST_ROUTE_BYTES_MAX = 350_000;
const FIRST_PAINT_MS_MAX = 500;
const COLD_STARTS = 5;

const kilobytes = (value: number) => `${(value / 1_000).toFixed(0)} kB`;

/** Pages, with the selector of the first content from the API, which makes them useful. */
function pagesOf(runIds: readonly string[]): { name: string; path: string; useful: string }[] {
  const [id, other] = runIds.slice(-2);
  return [
    { name: "home", path: "/", useful: "main table a" },
    { name: "runs", path: "/n/bench", useful: '[role="row"] a' },
    { name: "run", path: `/r/${id}`, useful: "main h1" },
    { name: "charts", path: `/r/${id}?tab=charts`, useful: 'main [role="img"] canvas' },
    { name: "compare", path: `/compare?runs=${id},${other}`, useful: "main table td" },
    { name: "about", path: "/about", useful: "main dd, main td" },
    { name: "access", path: "/access", useful: "main table, main form, main p" },
  ];
}

/** The bytes that a new browser loads, and its first paint. */
export async function measureStartUp(
  report: Report,
  browser: Browser,
  server: BenchServer,
  runIds: readonly string[],
): Promise<void> {
  const pages = pagesOf(runIds);
  const proxy = await startCountingProxy(server.port);
  const sizes: { name: string; bytes: number; files: number }[] = [];
  for (const { name, path, useful } of pages) {
    proxy.assets.clear();
    const { page, close } = await openPage(browser, proxy.url + path);
    await page.locator(useful).first().waitFor();
    while (proxy.waiting() > 0) await pause(10);
    const bytes = [...proxy.assets.values()].reduce((sum, each) => sum + each, 0);
    sizes.push({ name, bytes, files: proxy.assets.size });
    await close();
  }
  proxy.close();
  const [home, ...others] = sizes;
  report.add({
    what: "web, scripts and styles before home is of use, gzipped",
    value: home!.bytes,
    format: kilobytes,
    bar: FIRST_ROUTE_BYTES_MAX,
    stretch: FIRST_ROUTE_BYTES_MAX / 2,
    better: "lower",
    notes: `${home!.files} files with the worker's; opened first: ${others.map(({ name, bytes }) => `${name} ${kilobytes(bytes)}`).join(", ")}`,
  });
  for (const { name, path, useful } of pages.slice(0, 4)) {
    const paints: number[] = [];
    const uses: number[] = [];
    for (let i = 0; i < COLD_STARTS; i++) {
      const { page, close } = await openPage(browser, server.url + path);
      uses.push(
        await ask<number>(page, `probe.until(() => document.querySelector(${JSON.stringify(useful)}))`),
      );
      paints.push(await ask<number>(page, FIRST_PAINT));
      await close();
    }
    report.add({
      what: `web, first contentful paint of ${name}, median of ${COLD_STARTS}`,
      value: quantile(paints, 0.5),
      format: milliseconds,
      bar: FIRST_PAINT_MS_MAX,
      stretch: FIRST_PAINT_MS_MAX / 2,
      better: "lower",
      notes: `slowest ${Math.max(...paints).toFixed(0)} ms; of use after ${quantile(uses, 0.5).toFixed(0)} ms`,
    });
  }
}

const FIRST_PAINT = `new Promise((resolve) => new PerformanceObserver((list) => {
  for (const { name, startTime } of list.getEntries()) if (name === "first-contentful-paint") resolve(startTime);
}).observe({ type: "paint", buffered: true }))`;
