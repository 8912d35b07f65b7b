import type { Locator, Page } from "playwright-core";

/** The canvases of a chart hold more than a background. */
export async function isPainted(chart: Locator): Promise<boolean> {
  return await chart.evaluate((element) => {
    const canvas = element.querySelectorAll("canvas")[1]!;
    if (canvas.width === 0) return false;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return data.some((part: number) => part !== 0);
  });
}

export function chartOf(page: Page, key: string): Locator {
  return page.getByRole("img", { name: new RegExp(`^${key} by`) });
}

/** What the address says about a chart setting. */
export function settingOf(page: Page, name: string): string | null {
  return new URL(page.url()).searchParams.get(name);
}

/** The part of x that is shown. */
export function rangeOf(page: Page): [number, number] | undefined {
  const parts = settingOf(page, "range")?.split("..").map(Number);
  return parts === undefined ? undefined : [parts[0]!, parts[1]!];
}

/** What a click saves, as text. */
export async function savedText(page: Page, key: string, item: string): Promise<string> {
  const name = `More about ${key}`;
  await page.getByRole("button", { name, exact: true }).click();
  // The menu of another chart may still be on its way out.
  const menu = page.getByRole("menu", { name, exact: true });
  const [saved] = await Promise.all([
    page.waitForEvent("download"),
    menu.getByRole("menuitem", { name: item }).click(),
  ]);
  await menu.waitFor({ state: "detached" });
  const chunks: Buffer[] = [];
  for await (const chunk of await saved.createReadStream()) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}
