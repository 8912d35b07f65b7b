import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { fillDemo, type Filled } from "#cli/demo/fill-demo.ts";
import { Cairn } from "#sdk/client.ts";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { openWebFiles } from "#server/web-files.ts";
import { buildWeb } from "../../web/build.ts";
import { launchChromium } from "./chromium.ts";

/**
 * The pages in a real browser, on a server of their own in memory. Whatever a page complains about in the console, a policy it breaks, or an accessibility rule it
 * breaks fails the test it happened in.
 */
export interface WebPages {
  readonly url: string;
  readonly server: Server;
  readonly cairn: Cairn;
  /** What the demo wrote; ids by name such as "spike". */
  readonly demo: Filled;
  readonly context: BrowserContext;
  /** A page at an address such as "/n/demo", in a window of 1280 by 800 unless the context says otherwise. */
  open(path: string, context?: BrowserContext): Promise<Page>;
  /** A browser of another person: other cookies, other storage. Its pages are looked at, too. */
  newContext(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
  /** Complaints that this test expects, whenever they come. */
  forgive(pattern: RegExp): void;
}

export interface WebOptions {
  /** "none" for an empty server. */
  demo?: "small" | "full" | "none";
  argv?: readonly string[];
}

/** For a page to do what it was asked for, on a machine that is busy with something else. */
const PAGE_MS_MAX = 60_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Builds the pages, starts a server with demo data and a browser, before the tests of the file that calls this. */
export function useWebPages({ demo = "small", argv = [] }: WebOptions = {}): () => WebPages {
  let browser: Browser | undefined;
  let pages: WebPages | undefined;
  let server: Server | undefined;
  const contexts = new Set<BrowserContext>();
  let complaints: string[] = [];
  let forgiven: RegExp[] = [];

  const newContext: WebPages["newContext"] = async (options = {}) => {
    const context = await browser!.newContext({ viewport: { width: 1280, height: 800 }, ...options });
    context.setDefaultTimeout(PAGE_MS_MAX);
    contexts.add(context);
    context.on("page", (page) => listen(page, (complaint) => complaints.push(complaint)));
    return context;
  };

  beforeAll(async () => {
    await buildWeb();
    const web = openWebFiles();
    if (web === undefined) throw new Error("the pages were not built");
    server = await startServer(argv, { web });
    const { url } = server.listening;
    const cairn = new Cairn({ url, token: server.newToken ?? server.localSecret });
    const filled =
      demo === "none"
        ? { ids: new Map(), written: 0, points: 0, remarks: [] }
        : await fillDemo(cairn, { scale: demo });
    browser = await launchChromium();
    const context = await newContext();
    pages = {
      url,
      server,
      cairn,
      demo: filled,
      context,
      newContext,
      async open(path, from = context) {
        const page = await from.newPage();
        await page.goto(url + path);
        return page;
      },
      forgive(pattern) {
        forgiven.push(pattern);
      },
    };
  }, 240_000);

  afterEach(async () => {
    for (const context of contexts) {
      for (const page of context.pages()) await page.close();
      if (context !== pages?.context) {
        contexts.delete(context);
        await context.close();
      }
    }
    const heard = complaints.filter((complaint) => !forgiven.some((pattern) => pattern.test(complaint)));
    complaints = [];
    forgiven = [];
    expect(heard, "what the pages complained about").toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  return () => pages!;
}

function listen(page: Page, complain: (complaint: string) => void): void {
  page.on("pageerror", (error) => complain(`${page.url()}: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    const type = message.type();
    if (type === "error" || type === "warning") complain(`${page.url()}: ${type}: ${message.text()}`);
  });
}

/** Presses `g` and then another key, as quickly as a person would, however slow the page is. */
export async function pressGo(page: Page, key: string): Promise<void> {
  await Promise.all([page.keyboard.press("g"), page.keyboard.press(key)]);
}

/** Moves the mouse over a chart, at a part of its height, until something is seen: charts are drawn, and find their place, in their own time. */
export async function hoverUntil(chart: Locator, height: number, seen: Locator): Promise<void> {
  let turn = 0;
  const isSeen = async () => {
    const box = (await chart.boundingBox())!;
    turn += 1;
    await chart.page().mouse.move(box.x + box.width / 2 + (turn % 2), box.y + box.height * height);
    return await seen.isVisible();
  };
  await expect.poll(isSeen).toBe(true);
}

/** What the page has put into the clipboard, which it does in its own time. */
export async function copiedText(page: Page, pattern: RegExp): Promise<string> {
  let text = "";
  await expect
    .poll(async () => (text = await page.evaluate<string>("navigator.clipboard.readText()")))
    .toMatch(pattern);
  return text;
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"];

/** Fails with every accessibility rule the page breaks, as it is now, of those given. A frame of a stranger's file is not ours. */
export async function expectAccessible(page: Page, rules: readonly string[] = RULES): Promise<void> {
  // What moves is judged when it stands still. As text, because there is no page where this is checked.
  await page.evaluate(
    "Promise.all(document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity)" +
      ".map((animation) => animation.finished.catch(() => undefined)))",
  );
  await page.evaluate(AXE);
  const broken = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const { violations } = await axe.run({ exclude: [["iframe"]] }, { runOnly: [...runOnly] });
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${failureSummary ?? ""}`,
      ),
    );
  }, rules);
  expect(broken, `accessibility of ${page.url()}`).toEqual([]);
}
