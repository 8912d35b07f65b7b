import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { runCairn } from "../cli/cairn.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });
const ACTIONS = ["Examine in TensorBoard", "Train with new data", "Spawn inference cluster", "Run tests"];

const grid = (page: Page) => page.locator('[aria-label="Runs"][aria-rowcount]');
const rowsOf = (page: Page) => grid(page).locator('[role="rowgroup"]:nth-of-type(2) [role="row"]');

it(
  "Z90 a newcomer walks from the first start to a comparison that a colleague opens",
  { timeout: 280_000 },
  async () => {
    const { url, cairn } = pages();
    const context = await pages().newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await pages().open("/", context);

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
      .getByRole("button", { name: /params$/ })
      .first()
      .click();
    await page.keyboard.press("Escape");
    await grid(page).locator("[aria-expanded]").first().waitFor();
    await expectAccessible(page);
    await page.goBack();
    await expect.poll(() => grid(page).locator("[aria-expanded]").count()).toBe(0);

    // Charts: hover, zoom, smooth.
    const chart = page.getByRole("img", { name: /^train\/loss by/ });
    await chart.scrollIntoViewIfNeeded();
    const box = (await chart.boundingBox())!;
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page
      .getByRole("tooltip")
      .getByText(/^step [\d,]+$/)
      .waitFor();
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, box.y + 62, { steps: 4 });
    await page.mouse.up();
    const zoomed = () => new URL(page.url()).searchParams.get("charts") ?? "";
    await expect.poll(zoomed).toContain("range");
    await page.getByRole("button", { name: "How charts are drawn" }).click();
    await page.getByRole("combobox", { name: "Smoothing" }).click();
    await page.getByRole("option", { name: "Gaussian" }).click();
    await page.getByRole("slider", { name: "Amount of smoothing" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(zoomed).toContain("gauss");

    // Select two and compare them, only what differs.
    await rowsOf(page).nth(0).getByRole("checkbox").check();
    await rowsOf(page).nth(1).getByRole("checkbox").check();
    await page.getByText("2 selected").waitFor();
    await grid(page).focus();
    await page.keyboard.press("x");
    await page.waitForURL(/\/compare\?runs=/);
    await page.getByRole("table").first().waitFor();
    const differences = page.getByRole("button", { name: "Only differences" });
    await differences.click();
    const shown = await page.getByRole("rowheader").allInnerTexts();

    // The link, pasted elsewhere, shows the same.
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = (await page.evaluate("navigator.clipboard.readText()")) as string;
    const colleague = await pages().newContext();
    const other = await colleague.newPage();
    await other.goto(link);
    await expect.poll(() => other.getByRole("rowheader").allInnerTexts()).toEqual(shown);
    await expectAccessible(other);

    // One run: its log as it grows, and the five buttons.
    const { run } = await cairn.runs.createRun({
      namespace: "demo/speech",
      name: "walked",
      notes: "**here**",
    });
    const id = run!.id;
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search everything" }).fill("walked");
    await page
      .getByRole("option", { name: /walked/ })
      .first()
      .waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/r/${id}`);
    await page.getByRole("tab", { name: "Logs" }).click();
    await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["first words"] }] });
    await page.getByText("first words").waitFor();
    await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines: ["and more of them"] }] });
    await page.getByText("and more of them").waitFor();
    for (const name of ACTIONS) {
      await page.getByRole("button", { name: "Actions" }).click();
      await page.getByRole("menuitem", { name }).click();
      await page.getByRole("dialog", { name }).getByText("What it will need:").waitFor();
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
    await page.getByRole("button", { name: "Actions" }).click();
    await page.getByRole("menuitem", { name: "Show provenance pipeline" }).click();
    await page.getByRole("dialog", { name: "Provenance pipeline" }).waitFor();
    await page.keyboard.press("Escape");

    // In the other colours, and everything still in order.
    const theme = page.locator("html");
    const before = await theme.getAttribute("data-theme");
    await page.getByRole("button", { name: /colours$/ }).click();
    expect(await theme.getAttribute("data-theme")).not.toBe(before);
    await page.reload();
    expect(await theme.getAttribute("data-theme")).not.toBe(before);
    await page.getByText("and more of them").waitFor();
    await expectAccessible(page);
  },
);

it("Z90 the same is done by keyboard alone", { timeout: 200_000 }, async () => {
  const page = await pages().open("/");
  await page.getByRole("region", { name: "Recent runs" }).waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await page.waitForURL("**/n");
  await rowsOf(page).first().waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type('namespace under "demo/vision"');
  await page.keyboard.press("Enter");
  const { totalCount } = await pages().cairn.runs.searchRuns({ namespace: "demo/vision" });
  await page.getByText(`${totalCount} runs match`).waitFor();
  // From the query bar to the table by Tab, as far as that is.
  for (let i = 0; i < 40; i++) {
    if ((await page.evaluate("document.activeElement.getAttribute('aria-rowcount')")) !== null) break;
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  await page.keyboard.press("j");
  await page.keyboard.press("Space");
  await page.getByText("2 selected").waitFor();
  await page.keyboard.press("x");
  await page.waitForURL(/\/compare\?runs=/);
  await page.getByRole("table").first().waitFor();
  await page.goBack();
  await page.waitForURL(/\/n\?/);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys" }).waitFor();
  await page.keyboard.press("Escape");
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL(`${pages().url}/`);
});
