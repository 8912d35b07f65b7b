import type { Page, Request } from "playwright-core";

const QUIET_MS = 250;
const STILL_MS_MAX = 60_000;

interface Asked {
  readonly open: Set<Request>;
  changedMs: number;
}

/** Pending requests of a page. */
const asked = new WeakMap<Page, Asked>();
/** Scripts are loaded with the page; that of the worker is never reported as loaded. */
const TYPES = new Set(["fetch", "image", "media"]);

export function countRequests(page: Page): void {
  const state: Asked = { open: new Set(), changedMs: performance.now() };
  asked.set(page, state);
  const done = (request: Request): void => {
    if (state.open.delete(request)) state.changedMs = performance.now();
  };
  page.on("request", (request) => {
    if (!TYPES.has(request.resourceType())) return;
    state.open.add(request);
    state.changedMs = performance.now();
  });
  page.on("requestfinished", done);
  page.on("requestfailed", done);
}

/** No pending requests, no placeholders, no finite animations, and it is painted. */
export async function waitUntilStill(page: Page): Promise<void> {
  const state = asked.get(page)!;
  const endMs = performance.now() + STILL_MS_MAX;
  for (;;) {
    // As text, because there is no page where this is checked.
    const waits = await page.evaluate<number>(
      `new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(
         document.querySelectorAll('[aria-label="Loading"]').length +
         document.getAnimations().filter((each) => each.playState === "running" && each.effect?.getTiming().iterations !== Infinity).length
       ))))`,
    );
    const quietMs = performance.now() - state.changedMs;
    if (waits === 0 && state.open.size === 0 && quietMs >= QUIET_MS) return;
    if (performance.now() > endMs) throw new Error(`${page.url()} does not become idle`);
    await page.waitForTimeout(QUIET_MS / 5);
  }
}
