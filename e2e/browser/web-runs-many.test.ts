import type { Page, Request } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { newRunId } from "#base/ids.ts";
import { createRun } from "#store/contract/stores.ts";
import { dose, isLong, tally } from "../../tools/dose.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });
/** More than may be selected at once. */
const RUNS = dose(5_400, 100_000);
/** As the page writes it. */
const ALL_RUNS = isLong ? "100,000" : "5,400";
const grid = (page: Page) => page.locator('[aria-label="Runs"][aria-rowcount]');
const queryBar = (page: Page) => page.getByRole("combobox", { name: "Query" });
const nameAt = (page: Page, row: number) => page.locator(`#row-${row} a`).innerText();
const status = (page: Page) => page.locator('footer[aria-label="Status of the table"]');

/** Named by their place in the order of names. */
const nameOf = (place: number) => `many-${String(place).padStart(5, "0")}`;

/** Writes them straight into the store: thousands of calls would test nothing more. */
async function createRuns(namespace: string, count: number): Promise<string[]> {
  const { runs } = pages().server.stores;
  const ids: string[] = [];
  for (let place = 0; place < count; place++) {
    const nowUs = Date.now() * 1_000;
    const times = { createdUs: nowUs, startedUs: nowUs, updatedUs: nowUs };
    const id = newRunId(nowUs / 1_000);
    ids.push(await createRun(runs, { id, namespace, name: nameOf(place), ...times }));
  }
  return ids;
}

async function openRuns(path: string): Promise<Page> {
  const page = await pages().open(path);
  await page.locator("#row-0 a").waitFor();
  return page;
}

/** Searches for rows that the page sends from now on. */
function rowCalls(page: Page): Request[] {
  const calls: Request[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("RunService/SearchRuns")) calls.push(request);
  });
  return calls;
}

describe("a table of very many runs", () => {
  const space = "many";
  let ids: readonly string[];
  beforeAll(async () => {
    ids = await createRuns(space, RUNS);
    tally("rows of a table", RUNS);
  }, 600_000);

  it("Z17 the end, the middle and the top need one call each", async () => {
    // With the stream standing before the page asks, nothing is asked twice.
    const other = await pages().open("/about");
    await other.getByText("live", { exact: true }).first().waitFor();
    const page = await openRuns(`/n/${space}?split=100&q=order+by+name&cols=["status"]`);
    await expect.poll(() => nameAt(page, 0)).toBe(nameOf(0));
    const calls = rowCalls(page);
    await grid(page).focus();
    await page.keyboard.press("End");
    await expect.poll(() => nameAt(page, RUNS - 1)).toBe(nameOf(RUNS - 1));
    expect(calls).toHaveLength(1);
    const middle = RUNS / 2;
    await grid(page).evaluate((element, top) => element.scrollTo({ top }), middle * 28);
    await expect.poll(() => nameAt(page, middle + 5)).toBe(nameOf(middle + 5));
    expect(calls).toHaveLength(2);
    // What was read is still there.
    await page.keyboard.press("Home");
    await expect.poll(() => nameAt(page, 0)).toBe(nameOf(0));
    expect(calls).toHaveLength(2);
  });

  it("Z8 a link shows a run in the charts that is far below the loaded rows, as long as the query selects it", async () => {
    const id = ids[RUNS - 1]!;
    await pages().cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "far", steps: [1n, 2n], values: [0.5, 0.25] }],
    });
    const link = `/n/${space}?cols=["status"]&show=["${id}"]`;
    const chart = { name: `far by step, 1 line: ${nameOf(RUNS - 1)} last 0.25` };
    const page = await openRuns(`${link}&q=order+by+name`);
    await page.getByRole("img", chart).waitFor();
    await queryBar(page).fill('name < "many-02000" order by name');
    await queryBar(page).press("Enter");
    await page.getByRole("img", chart).waitFor({ state: "detached" });
    await queryBar(page).fill('name > "many-02000" order by name');
    await queryBar(page).press("Enter");
    await page.getByRole("img", chart).waitFor();
  });

  it("Z17 Z9 runs that appear and disappear above do not move the visible rows, and are counted", async () => {
    const page = await openRuns(`/n/${space}?split=100&q=order+by+name&cols=["status"]`);
    await page.getByText("live", { exact: true }).first().waitFor();
    const middle = 3_000;
    await grid(page).evaluate((element, top) => element.scrollTo({ top }), middle * 28);
    const row = page.getByRole("link", { name: nameOf(middle + 4), exact: true });
    await row.waitFor();
    const before = (await row.boundingBox())!.y;
    const { run } = await pages().cairn.runs.createRun({ namespace: space, name: "a-first" });
    await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toBe(String(RUNS + 2));
    await expect.poll(async () => (await row.boundingBox())?.y).toBe(before);
    await page
      .locator(`#row-${middle + 5}`)
      .getByText(nameOf(middle + 4))
      .waitFor();
    await pages().cairn.runs.deleteRun({ run: { id: run!.id } });
    await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toBe(String(RUNS + 1));
    await expect.poll(async () => (await row.boundingBox())?.y).toBe(before);
    await page
      .locator(`#row-${middle + 4}`)
      .getByText(nameOf(middle + 4))
      .waitFor();
  });

  it("Z19 five thousand selected runs: limited actions say so, the file has all, tagging can be stopped", async () => {
    const page = await openRuns(`/n/${space}?q=order+by+name&cols=["status"]`);
    await page.getByRole("checkbox", { name: "Select all runs" }).click();
    await status(page).getByText(`5,000 selected of ${ALL_RUNS}, the maximum`).waitFor();
    // Too many for an address, so they are not in it.
    expect(page.url()).not.toContain("sel=");
    await expectAccessible(page);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Save 5,000 runs as CSV" }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const lines = Buffer.concat(chunks).toString().trim().split("\r\n");
    expect(lines).toHaveLength(5_001);
    expect([lines[1], lines[5_000]]).toEqual([
      expect.stringContaining(nameOf(0)),
      expect.stringContaining(nameOf(4_999)),
    ]);
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.getByLabel("Tag", { exact: true }).fill("bulk");
    await page.getByLabel("Value").fill("yes");
    await page.getByRole("button", { name: "Set the tag" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/[1-9]\d* of 5,000/).waitFor();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await dialog.getByText(/runs? (was|were) tagged\. .*were not changed\./).waitFor();
    const { totalCount } = await pages().cairn.runs.searchRuns({
      namespace: space,
      query: 'tags.bulk = "yes"',
      pageSize: 1,
    });
    const tagged = Number(totalCount);
    expect([tagged > 0, tagged < 5_000]).toEqual([true, true]);
    await dialog.getByRole("button", { name: "Close" }).last().click();
    // The page still answers.
    await grid(page).focus();
    await page.keyboard.press("End");
    await expect.poll(() => nameAt(page, RUNS - 1)).toBe(nameOf(RUNS - 1));
    await page.getByRole("button", { name: "Compare the first 50" }).click();
    await page.waitForURL(/\/compare\?runs=/);
    expect(new URL(page.url()).searchParams.get("runs")!.split(",")).toHaveLength(50);
  });

  it("Z19 a range is selected with all rows between, also unloaded ones", async () => {
    const page = await openRuns(`/n/${space}?split=100&q=order+by+name&cols=["status"]`);
    await page.locator("#row-10").getByRole("checkbox").check();
    await status(page).getByText("1 selected").waitFor();
    await grid(page).evaluate((element, top) => element.scrollTo({ top }), 3_000 * 28);
    const last = page.locator("#row-3009").getByRole("checkbox");
    await last.click({ modifiers: ["Shift"] });
    await status(page).getByText(`3,000 selected of ${ALL_RUNS}`).waitFor();
  });

  it("Z3 Ctrl Z undoes changes of columns, groups and order, one by one, and stays on the page", async () => {
    const page = await openRuns(`/n/${space}?split=100&cols=["status","created"]`);
    const headers = () => grid(page).getByRole("columnheader").allInnerTexts();
    const before = await headers();
    await grid(page).getByRole("columnheader", { name: "Created" }).getByRole("button").first().click();
    await expect.poll(() => queryBar(page).inputValue()).toContain("order by created");
    await page.getByRole("button", { name: /^Columns/ }).click();
    await page.getByRole("button", { name: "Remove Status" }).click();
    await page.keyboard.press("Escape");
    await expect.poll(headers).not.toEqual(before);
    await grid(page).focus();
    await page.keyboard.press("Control+z");
    await expect.poll(headers).toEqual(before);
    expect(await queryBar(page).inputValue()).toContain("order by created");
    await page.keyboard.press("Control+z");
    await expect.poll(() => queryBar(page).inputValue()).toBe("");
    await page.keyboard.press("Control+z");
    await page.locator("#row-0 a").waitFor();
    expect(new URL(page.url()).pathname).toBe(`/n/${space}`);
  });
});

describe("one run among others", () => {
  it("Z18 a running run shows its last activity, and that it is late", async () => {
    const { cairn, newContext } = pages();
    const { run } = await cairn.runs.createRun({ namespace: "beats", name: "silent" });
    await cairn.runs.createRun({ namespace: "beats", name: "never-heard" });
    await cairn.metrics.writeEnvelope({ run: { id: run!.id }, heartbeatSeconds: 600 });
    // Nobody waits for ten minutes: the clock of this browser is put forward, and no answer contradicts it.
    const context = await newContext();
    await context.clock.install();
    await context.route(/\/cairn\.v1\./, async (route) => {
      const response = await route.fetch();
      const { date: _, ...headers } = response.headers();
      await route.fulfill({ response, headers });
    });
    const table = await pages().open('/n/beats?split=100&cols=["status"]', context);
    const page = await pages().open(`/r/${run!.id}`, context);
    const rowOf = (name: string) =>
      grid(table)
        .getByRole("row")
        .filter({ has: table.getByRole("link", { name, exact: true }) });
    await rowOf("silent")
      .getByText(/running/)
      .waitFor();
    expect(await rowOf("silent").textContent()).toMatch(/runningactive \d+[sm] ago$/);
    expect(await rowOf("never-heard").textContent()).toMatch(/running$/);
    await page.getByText(/^active/).waitFor();
    const calls = rowCalls(table);
    await context.clock.fastForward("25:00");
    await expect.poll(() => rowOf("silent").textContent()).toMatch(/active \d+m ago, late$/);
    await expect.poll(() => calls.length).toBeGreaterThan(0);
    await page.getByText(/late, lost after 30m/).waitFor();
    for (const each of [table, page]) await expectAccessible(each);
  });

  it("Z18 a browser with a wrong clock marks no run as late and shows correct durations", async () => {
    const { cairn, newContext } = pages();
    const { run } = await cairn.runs.createRun({ namespace: "clocks", name: "on time" });
    await cairn.metrics.writeEnvelope({ run: { id: run!.id }, heartbeatSeconds: 600 });
    for (const offMs of [-3_600_000, 3_600_000]) {
      const context = await newContext();
      await context.clock.install({ time: Date.now() + offMs });
      const table = await pages().open('/n/clocks?split=100&cols=["status","duration"]', context);
      await expect
        .poll(() => table.locator("#row-0").textContent())
        .toMatch(/active \d+[sm] ago(\d+m )?\d+[sm]$/);
      const page = await pages().open(`/r/${run!.id}`, context);
      const active = page.getByText(/^active/).locator("..");
      await expect.poll(() => active.textContent()).toMatch(/active\s*\d+[sm] ago/);
    }
  });

  it("Z18 an active run is not called late, also where the page is not notified of points", async () => {
    const { cairn } = pages();
    const { run } = await cairn.runs.createRun({ namespace: "talks", name: "talking" });
    const { id } = run!;
    await cairn.metrics.writeEnvelope({ run: { id }, heartbeatSeconds: 10 });
    let step = 0n;
    const talk = setInterval(() => {
      void cairn.metrics.writeEnvelope({
        run: { id },
        series: [{ key: "loss", steps: [step++], values: [1] }],
      });
    }, 500);
    try {
      // Without a metric among the columns points are not reported as changes, so the page must ask.
      const page = await openRuns('/n/talks?split=100&cols=["status"]');
      const calls = rowCalls(page);
      await expect.poll(() => calls.length, { timeout: 60_000 }).toBeGreaterThan(0);
      const ageOf = async () => {
        const text = (await page.locator("#row-0").textContent()) ?? "";
        expect(text).not.toContain("late");
        return Number(/active (\d+)s ago/.exec(text)?.[1]);
      };
      await expect.poll(ageOf, { timeout: 60_000 }).toBeLessThan(9);
    } finally {
      clearInterval(talk);
    }
  });

  it("Z86 a short id opens its run, and an ambiguous one a list", async () => {
    const [id] = await createRuns("short", 3);
    await pages().cairn.runs.createRun({ namespace: "short", name: id!.slice(0, 16) });
    const page = await pages().open(`/r/${id!.slice(0, 16)}?tab=charts`);
    await page.waitForURL(`**/r/${id}?tab=charts`);
    await page.getByRole("heading", { name: nameOf(0) }).waitFor();
    // The first digits are the time: all of these begin alike.
    const many = await pages().open(`/r/${id!.slice(0, 6).toUpperCase()}`);
    await many.getByText(/runs have an id that begins with/).waitFor();
    await expectAccessible(many);
    await many.locator('main a[href^="/r/"]').first().click();
    await many.waitForURL(/\/r\/[0-9a-f]{32}$/);
    await many.goBack();
    await many.getByText(/runs have an id that begins with/).waitFor();
    const none = await pages().open("/r/0123456789ab");
    await none.getByText("Run not found, or you may not read it").waitFor();
    // The search has it first, before a run that is called so.
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search everything" }).fill(id!.slice(0, 16));
    await expect
      .poll(() => page.getByRole("option").first().innerText())
      .toMatch(new RegExp(`${nameOf(0)}[^]*${id!.slice(0, 16)}`));
  });

  it("Z87 Enter opens the result for the typed text, however slow the answer is", async () => {
    const { cairn } = pages();
    await cairn.runs.createRun({ namespace: "words", name: "alpha-old" });
    const { run } = await cairn.runs.createRun({ namespace: "words", name: "omega-new" });
    const page = await pages().open("/");
    await page.getByRole("button", { name: /Search everything/ }).click();
    const field = page.getByRole("combobox", { name: "Search everything" });
    await field.fill("alpha");
    await page.getByRole("option", { name: /alpha-old/ }).waitFor();
    // From now on answers wait until they are let through.
    let open!: () => void;
    const gate = new Promise<void>((resolve) => (open = resolve));
    await page.route("**/SearchRuns", async (route) => {
      await gate;
      await route.continue();
    });
    await field.fill("omega");
    await expect.poll(() => page.getByRole("option", { name: /alpha-old/ }).count()).toBe(0);
    await page.keyboard.press("Enter");
    expect(new URL(page.url()).pathname).toBe("/");
    open();
    await page.waitForURL(`**/r/${run!.id}`);
  });
});
