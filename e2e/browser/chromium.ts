import { chromium, type Browser } from "playwright-core";
import { findChromium } from "../../tools/needs.ts";

/** The browser of the system, headless and silent: nothing it does by itself leaves the machine. */
export async function launchChromium(args: readonly string[] = []): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error("cannot find chromium on the PATH: install chromium, or put its folder on the PATH");
  }
  return await chromium.launch({
    executablePath,
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
      ...args,
    ],
  });
}

let shared: Promise<Browser> | undefined;

/**
 * The browser of this process, which is also the one of the next test file in it: close contexts, never the browser.
 * It ends with the process.
 */
export async function sharedChromium(): Promise<Browser> {
  const known = await shared;
  if (known?.isConnected() === true) return known;
  shared = launchChromium();
  return await shared;
}
