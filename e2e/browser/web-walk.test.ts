import type { Locator, Page } from "playwright-core";
import { expect, it, onTestFinished } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startServer } from "#server/testing/servers.ts";
import { openWebFiles } from "#server/web/web-files.ts";
import { runCairn } from "../cli/testing/cairn.ts";
import { copiedText, expectAccessible, hoverUntil, pressGo, useWebPages } from "./web-page.ts";

const pages = useWebPages();
const CLIPBOARD = { permissions: ["clipboard-read", "clipboard-write"] };
const TABS_MAX = 200;

const grid = (page: Page) => page.locator('[aria-label="Runs"][aria-rowcount]');
const rowsOf = (page: Page) => grid(page).locator('[role="rowgroup"]:nth-of-type(2) [role="row"]');
const keyHeads = (page: Page) => page.getByRole("rowheader").allInnerTexts();

/** A server without data, a new one for every try. */
async function firstStart(): Promise<{ url: string; cairn: Cairn }> {
  const server = await startServer([], { web: openWebFiles() });
  onTestFinished(() => server.close());
  const { url } = server.listening;
  return { url, cairn: new Cairn({ url }) };
}

async function openPipeline(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Provenance pipeline" }).click();
  await page.getByRole("dialog", { name: "Provenance pipeline" }).waitFor();
}

/** Waits for the whole comparison, then returns whether the button shows and hides equal rows. */
async function walkDifferences(page: Page): Promise<string[]> {
  await page.getByRole("table").first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: "CSV" }).isEnabled()).toBe(true);
  const differences = page.getByRole("button", { name: "Only differences" });
  const shown = await keyHeads(page);
  expect(await differences.getAttribute("aria-pressed")).toBe("true");
  await differences.press("Enter");
  await expect.poll(async () => (await keyHeads(page)).length).toBeGreaterThan(shown.length);
  await differences.press("Enter");
  await expect.poll(() => keyHeads(page)).toEqual(shown);
  return shown;
}

/** Presses Tab until something has the focus: as far as that is, but not for ever. */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor();
  for (let i = 0; i < TABS_MAX; i++) {
    if (await target.first().evaluate((one) => one === one.ownerDocument.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not lead to ${String(target)}`);
}

it(
  "Z90 a newcomer walks from the first start to a comparison that a colleague opens",
  { timeout: 600_000 },
  async () => {
    const { url, cairn } = await firstStart();
    const context = await pages().newContext(CLIPBOARD);
    const page = await context.newPage();
    await page.goto(url);

    // First start and empty state; the demo fills it while the page is open.
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    const demo = await runCairn(["demo", "--once", "--scale", "small", "--server", url]);
    expect(demo.code, demo.stderr).toBe(0);
    await page.getByRole("region", { name: "Recent runs" }).waitFor();
    const tree = page.getByRole("navigation", { name: "Pages and namespaces" });
    await tree.getByRole("link", { name: /^speech/ }).click();
    await page.waitForURL("**/n/demo/speech");

    // Filter, sort, group.
    const found = await cairn.runs.searchRuns({ namespace: "demo/speech", query: 'name like "sweep-%"' });
    const query = page.getByRole("combobox", { name: "Query" });
    await query.fill('name like "sweep-%"');
    await query.press("Enter");
    await page.getByText(`${found.totalCount} runs match`).waitFor();
    await grid(page).getByRole("columnheader", { name: "Duration" }).getByRole("button").click();
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toMatch(/order by duration/);
    await page.getByRole("button", { name: "Group" }).click();
    await page
      .getByRole("button", { name: /param$/ })
      .first()
      .click();
    await page.keyboard.press("Escape");
    await grid(page).locator("[aria-expanded]").first().waitFor();
    await expectAccessible(page);
    await page.goBack();
    await expect.poll(() => grid(page).locator("[aria-expanded]").count()).toBe(0);

    // Select; the five buttons act on the selection.
    await rowsOf(page).nth(0).getByRole("checkbox").check();
    await rowsOf(page).nth(1).getByRole("checkbox").check();
    await page.getByText("2 selected").waitFor();
    await openPipeline(page);
    await page.getByRole("dialog").getByRole("combobox", { name: "Run" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });

    // Charts: hover, zoom, smooth.
    const chart = page.getByRole("img", { name: /^train\/loss by/ });
    await chart.scrollIntoViewIfNeeded();
    await hoverUntil(chart, 0.5, page.getByRole("tooltip").getByText(/^step [\d,]+$/));
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 62, { steps: 4 });
    await page.mouse.up();
    const charts = () => new URL(page.url()).searchParams.get("charts") ?? "";
    await expect.poll(charts).toContain("range");
    await page.getByRole("button", { name: "How charts are drawn" }).click();
    await page.getByRole("combobox", { name: "Smoothing" }).click();
    await page.getByRole("option", { name: "Gaussian" }).click();
    await page.getByRole("slider", { name: "Amount of smoothing" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(charts).toContain("gauss");

    // One run: its log as it grows, and the five buttons.
    const { run } = await cairn.runs.createRun({
      namespace: "demo/speech",
      name: "walked",
      notes: "**here**",
    });
    const id = run!.id;
    const other = await context.newPage();
    await other.goto(url);
    await other.getByRole("region", { name: "Recent runs" }).getByRole("link", { name: "walked" }).click();
    await other.waitForURL(`**/r/${id}`);
    await other.getByRole("tab", { name: "Logs" }).click();
    for (const words of ["first words", "and more of them"]) {
      await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines: [words] }] });
      await other.getByText(words).waitFor();
    }
    await openPipeline(other);
    await other.close();

    // Compare the selection, differences only.
    await grid(page).focus();
    await page.keyboard.press("x");
    await page.waitForURL(/\/compare\?runs=/);
    const shown = await walkDifferences(page);

    // The link, pasted elsewhere, shows the same.
    await page.getByRole("button", { name: "Copy link" }).click();
    const colleague = await (await pages().newContext()).newPage();
    await colleague.goto(await copiedText(page, /\/compare\?runs=/));
    await expect.poll(() => keyHeads(colleague)).toEqual(shown);
    await expectAccessible(colleague);

    // In the other colours, and everything still in order.
    const theme = () => page.locator("html").getAttribute("data-theme");
    const before = await theme();
    await page.getByRole("button", { name: /colours$/ }).click();
    await expect.poll(theme).not.toBe(before);
    await page.reload();
    await expect.poll(theme).not.toBe(before);
    await expect.poll(() => keyHeads(page)).toEqual(shown);
    await expectAccessible(page);
  },
);

it("Z90 the same is done by keyboard alone", { timeout: 600_000 }, async () => {
  const page = await pages().open("/", await pages().newContext(CLIPBOARD));
  const { keyboard } = page;
  const address = (key: string) => new URL(page.url()).searchParams.get(key) ?? "";
  await page.getByRole("region", { name: "Recent runs" }).waitFor();
  await pressGo(page, "r");
  await page.waitForURL("**/n");
  await rowsOf(page).first().waitFor();

  // Filter, sort, group, and back.
  await keyboard.press("/");
  await keyboard.type('namespace under "demo/vision"');
  await keyboard.press("Enter");
  const { totalCount } = await pages().cairn.runs.searchRuns({ namespace: "demo/vision" });
  await page.getByText(`${totalCount} runs match`).waitFor();
  await tabTo(page, page.getByRole("button", { name: "Group" }));
  await keyboard.press("Enter");
  await tabTo(page, page.getByRole("button", { name: /param$/ }));
  await keyboard.press("Enter");
  await keyboard.press("Escape");
  await grid(page).locator("[aria-expanded]").first().waitFor();
  await page.goBack();
  await expect.poll(() => grid(page).locator("[aria-expanded]").count()).toBe(0);
  await tabTo(page, grid(page).getByRole("columnheader", { name: "Duration" }).getByRole("button"));
  await keyboard.press("Enter");
  await expect.poll(() => address("q")).toMatch(/order by duration/);

  // Select, the buttons, a chart.
  await tabTo(page, grid(page));
  for (let i = 1; i <= 2; i++) {
    await keyboard.press("j");
    await keyboard.press("Space");
    await page.getByText(`${i} selected`).waitFor();
  }
  await tabTo(page, page.getByRole("button", { name: "Provenance pipeline" }));
  await keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Provenance pipeline" }).waitFor();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  await tabTo(page, page.getByRole("img", { name: /^train\/loss by/ }));
  await keyboard.press("ArrowRight");
  await page.getByRole("tooltip").waitFor();
  await keyboard.press("+");
  await expect.poll(() => address("charts")).toContain("range");

  // Compare, and the link of it.
  await tabTo(page, grid(page));
  await keyboard.press("x");
  await page.waitForURL(/\/compare\?runs=/);
  await walkDifferences(page);
  await tabTo(page, page.getByRole("button", { name: "Copy link" }));
  await keyboard.press("Enter");
  expect(await copiedText(page, /\/compare\?runs=/)).toBe(page.url());

  // One run and its log, the sheet of keys, the colours, and home.
  await keyboard.press("Control+k");
  await keyboard.type("unet-wide");
  await keyboard.press("Enter");
  await page.getByRole("heading", { name: "unet-wide" }).waitFor();
  await tabTo(page, page.getByRole("tab", { name: "Overview" }));
  for (let i = 0; i < 4; i++) await keyboard.press("ArrowRight");
  await keyboard.press("Enter");
  await page.getByRole("log").waitFor();
  await keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const theme = () => page.locator("html").getAttribute("data-theme");
  const before = await theme();
  await keyboard.press("t");
  await expect.poll(theme).not.toBe(before);
  await pressGo(page, "h");
  await page.waitForURL(`${pages().url}/`);
});
