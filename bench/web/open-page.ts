import { fileURLToPath } from "node:url";
import type { Browser, BrowserContext, CDPSession, Page } from "playwright-core";
import { quantile } from "../report.ts";

const PROBE = fileURLToPath(new URL("probe.js", import.meta.url));
const PAGE_MS_MAX = 60_000;

/** A page in a new browser: no cache, no worker. */
export interface OpenPage {
  page: Page;
  context: BrowserContext;
  debug: CDPSession;
  /** Processor seconds of the page's own thread since its start. */
  busySeconds(): Promise<number>;
  close(): Promise<void>;
}

export async function openPage(
  browser: Browser,
  url: string,
  viewport = { width: 1280, height: 800 },
): Promise<OpenPage> {
  const context = await browser.newContext({ viewport });
  context.setDefaultTimeout(PAGE_MS_MAX);
  await context.addInitScript({ path: PROBE });
  const page = await context.newPage();
  const debug = await context.newCDPSession(page);
  // Time of other programs on a shared machine does not count.
  await debug.send("Performance.enable", { timeDomain: "threadTicks" });
  await page.goto(url, { waitUntil: "commit" });
  return {
    page,
    context,
    debug,
    busySeconds: async () => {
      const { metrics } = await debug.send("Performance.getMetrics");
      return metrics.find(({ name }) => name === "TaskDuration")!.value;
    },
    close: () => context.close(),
  };
}

/** Evaluates a function of probe.js, or any other expression. As text, because there is no page where this is checked. */
export async function ask<T>(page: Page, script: string): Promise<T> {
  return await page.evaluate<T>(script);
}

/** Measurements of probe.js between `startFrames` and `endFrames`. */
export interface Frames {
  /** Milliseconds between frames. */
  frames: number[];
  /** Milliseconds in which rows were missing, each time. */
  blanks: number[];
  /** Milliseconds of tasks over 50 ms. */
  long: number[];
}

export async function startFrames(page: Page, look = false): Promise<void> {
  await ask(page, `globalThis.endFrames = probe.watchFrames(${look}); undefined`);
}

export async function endFrames(page: Page): Promise<Frames> {
  return await ask<Frames>(page, "endFrames()");
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

export function spread(values: readonly number[]): string {
  const [p50, p95, max] = [0.5, 0.95, 1].map((q) => quantile(values, q).toFixed(0));
  return `p50 ${p50}, p95 ${p95}, max ${max} ms`;
}
