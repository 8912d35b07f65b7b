import type { Page } from "playwright-core";

/** Goes to another address of the pages without loading them again, as a click on a link does. */
export async function goWithin(page: Page, path: string): Promise<void> {
  // As text, because this is type-checked without a page. The router reports when the new page is shown.
  await page.evaluate(`__TSR_ROUTER__.navigate({ href: ${JSON.stringify(path)} }).then(() => undefined)`);
}
