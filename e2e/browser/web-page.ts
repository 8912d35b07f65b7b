import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect } from "vitest";
import { fillDemo, type Filled } from "#cli/demo/fill-demo.ts";
import { Cairn } from "#sdk/client.ts";
import type { Server } from "#server/serve.ts";
import { startServer } from "#server/testing/servers.ts";
import { openWebFiles } from "#server/web/web-files.ts";
import { buildWeb } from "../../web/build.ts";
import { sharedChromium } from "./chromium.ts";

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
  /** A browser of another user: other cookies, other storage. Its pages are checked, too. */
  newContext(options?: Parameters<Browser["newContext"]>[0]): Promise<BrowserContext>;
  /** Complaints that this test expects, whenever they come. */
  forgive(pattern: RegExp): void;
}

export interface WebOptions {
  /** "none" for an empty server. */
  demo?: "small" | "full" | "none";
  argv?: readonly string[];
  /** Runs in every page of the first context before anything else does. */
  initScript?: string;
}

/** How long a page may take to react on a busy machine. */
const PAGE_MS_MAX = 60_000;
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * Starts a server with demo data before the tests of the file that calls this, and opens pages of it in the browser
 * of this process.
 */
export function useWebPages({ demo = "small", argv = [], initScript }: WebOptions = {}): () => WebPages {
  let browser: Browser | undefined;
  let pages: WebPages | undefined;
  let server: Server | undefined;
  /** A page of the first context that a test has left: to go elsewhere in it costs half as much as another page. */
  let spare: Page | undefined;
  const contexts = new Set<BrowserContext>();
  let complaints: string[] = [];
  let forgiven: RegExp[] = [];

  const newContext: WebPages["newContext"] = async (options = {}) => {
    const context = await browser!.newContext({ viewport: VIEWPORT, ...options });
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
    browser = await sharedChromium();
    const context = await newContext();
    if (initScript !== undefined) await context.addInitScript(initScript);
    pages = {
      url,
      server,
      cairn,
      demo: filled,
      context,
      newContext,
      async open(path, from = context) {
        const page = from === context && spare !== undefined ? spare : await from.newPage();
        if (page === spare) spare = undefined;
        await page.goto(url + path);
        return page;
      },
      forgive(pattern) {
        forgiven.push(pattern);
      },
    };
  }, 240_000);

  afterEach(async ({ task }) => {
    for (const context of contexts) {
      if (context === pages?.context) continue;
      contexts.delete(context);
      await context.close();
    }
    const [first, ...others] = pages?.context.pages() ?? [];
    for (const page of others) await page.close();
    // A test that failed may have left it in any state.
    const isGood = first !== undefined && task.result?.state !== "fail";
    if (isGood) await leave(first);
    else await first?.close();
    spare = isGood ? first : undefined;
    const heard = complaints.filter((complaint) => !forgiven.some((pattern) => pattern.test(complaint)));
    complaints = [];
    forgiven = [];
    expect(heard, "what the pages complained about").toEqual([]);
  });

  afterAll(async () => {
    for (const context of contexts) await context.close();
    contexts.clear();
    await server?.close();
  });

  return () => pages!;
}

const VIEWPORT = { width: 1280, height: 800 };

/** Makes a page as good as new. What it keeps, such as its history, is what a person's tab keeps, too. */
async function leave(page: Page): Promise<void> {
  await page.unrouteAll();
  await page.goto("about:blank");
  await page.mouse.move(0, 0);
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(VIEWPORT);
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
/** The rules that depend on colours, for a page that was checked in other colours already. */
export const COLOUR_RULES: readonly string[] = ["color-contrast", "link-in-text-block"];

/** Fails with every given accessibility rule that the page breaks now. Frames with uploaded files are not checked. */
export async function expectAccessible(page: Page, rules: readonly string[] = RULES): Promise<void> {
  // Animations are checked after they have ended. As text, because this is type-checked without a page.
  await page.evaluate(
    "Promise.all(document.getAnimations().filter(({ effect }) => effect?.getTiming().iterations !== Infinity)" +
      ".map((animation) => animation.finished.catch(() => undefined)))",
  );
  if (await page.evaluate<boolean>("globalThis.axe === undefined")) await page.evaluate(AXE);
  const broken = await page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as { axe: typeof import("axe-core") };
    const options = { runOnly: [...runOnly], resultTypes: ["violations" as const] };
    const { violations } = await axe.run({ exclude: [["iframe"]] }, options);
    return violations.flatMap(({ id, help, nodes }) =>
      nodes.map(
        ({ target, failureSummary }) => `${id}: ${help}: ${target.join(" ")} ${failureSummary ?? ""}`,
      ),
    );
  }, rules);
  expect(broken, `accessibility of ${page.url()}`).toEqual([]);
}
