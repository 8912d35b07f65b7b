import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "small" });
const grid = (page: Page) => page.locator('[aria-label="Runs"][aria-rowcount]');
const rowsOf = (page: Page) => grid(page).locator('[role="rowgroup"]:nth-of-type(2) [role="row"]');
const names = (page: Page) => rowsOf(page).locator("a").allInnerTexts();
const queryBar = (page: Page) => page.getByRole("combobox", { name: "Query" });

async function openRuns(path: string): Promise<Page> {
  const page = await pages().open(path);
  await rowsOf(page).first().waitFor();
  return page;
}

async function ask(page: Page, query: string): Promise<void> {
  await queryBar(page).fill(query);
  await queryBar(page).press("Enter");
}

describe("the runs page", () => {
  it("Z4 a namespace shows all runs below it, with how many there are, and breaks no accessibility rule", async () => {
    const page = await openRuns("/n/demo");
    const { totalCount } = await pages().cairn.runs.searchRuns({ namespace: "demo", pageSize: 1 });
    await page.getByText(`${totalCount} runs match`).waitFor();
    await expect.poll(() => grid(page).getAttribute("aria-rowcount")).toBe(String(Number(totalCount) + 1));
    await expectAccessible(page);
  });

  it("Z5 keys and values are completed, and Enter searches", async () => {
    const page = await openRuns("/n/demo/speech");
    await queryBar(page).pressSequentially("statu");
    await page.getByRole("option", { name: "status" }).waitFor();
    await queryBar(page).press("Tab");
    await queryBar(page).pressSequentially('= "fa');
    await page.getByRole("option", { name: '"failed"' }).waitFor();
    await queryBar(page).press("Tab");
    await queryBar(page).press("Enter");
    const { totalCount } = await pages().cairn.runs.searchRuns({
      namespace: "demo/speech",
      query: 'status = "failed"',
    });
    await page.getByText(`${totalCount} ${totalCount === 1n ? "run matches" : "runs match"}`).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("q")).toContain('status = "failed"');
  });

  it("Z212 a cell narrows the query to its value, and keeps the order", async () => {
    const page = await openRuns("/n/demo/speech?q=order+by+name");
    const cell = rowsOf(page)
      .first()
      .getByRole("gridcell")
      .filter({ hasText: /finished|failed|running/ });
    const status = /finished|failed|running/.exec(await cell.innerText())![0];
    await cell.hover();
    await cell.getByRole("button", { name: "Only runs with this Status" }).click();
    await expect.poll(() => queryBar(page).inputValue()).toBe(`status = "${status}" order by name`);
    const { totalCount } = await pages().cairn.runs.searchRuns({
      namespace: "demo/speech",
      query: `status = "${status}"`,
    });
    await page.getByText(`${totalCount} ${totalCount === 1n ? "run matches" : "runs match"}`).waitFor();
    await page.goBack();
    await expect.poll(() => queryBar(page).inputValue()).toBe("order by name");
  });

  it("Z6 a mistake is shown at its column and the rows stay; so is one in a link", async () => {
    const page = await openRuns("/n/demo");
    await ask(page, "params.lr > 0.1 adn name");
    const fault = page.getByRole("alert");
    await fault.waitFor();
    expect(await fault.innerText()).toMatch(
      /did you mean and\?[\s\S]*\n {2}params\.lr > 0\.1 adn name\n {18}\^/,
    );
    const lines = "[...document.querySelector('[role=alert]').children]";
    const cut = `${lines}.filter((each) => each.scrollWidth > each.clientWidth).length`;
    expect(await page.evaluate<number>(cut)).toBe(0);
    expect(await rowsOf(page).count()).toBeGreaterThan(0);
    const other = await pages().open("/n/demo?q=%3D%3D");
    await other.getByRole("alert").waitFor();
    await ask(other, "");
    await rowsOf(other).first().waitFor();
    pages().forgive(/status of 400/);
  });

  it("Z2 a header sorts through the query, and Back goes back", async () => {
    const page = await openRuns("/n/demo/speech");
    await grid(page).getByRole("img", { name: "val/wer over its steps" }).first().waitFor();
    const header = grid(page).getByRole("columnheader", { name: "Duration" });
    await header.getByRole("button").click();
    await expect.poll(() => header.getAttribute("aria-sort")).toBe("descending");
    await expect.poll(() => queryBar(page).inputValue()).toBe("order by duration desc");
    const { runs } = await pages().cairn.runs.searchRuns({
      namespace: "demo/speech",
      query: "order by duration desc",
    });
    await expect
      .poll(async () => (await names(page)).slice(0, 5))
      .toEqual(runs.slice(0, 5).map(({ name }) => name));
    await page.goBack();
    await expect.poll(() => header.getAttribute("aria-sort")).toBe("none");
  });

  it("Z3 columns are added, moved and removed, and a link shows the same elsewhere", async () => {
    const page = await openRuns("/n/demo/speech");
    await page.getByRole("button", { name: /^Columns/ }).click();
    await page.getByRole("textbox", { name: "Find a column" }).fill("owner");
    await page.getByRole("button", { name: /owner/ }).first().click();
    await grid(page).getByRole("columnheader", { name: "owner" }).waitFor({ state: "attached" });
    const headersOf = (one: Page) => grid(one).getByRole("columnheader").allInnerTexts();
    const added = await headersOf(page);
    await page.getByRole("button", { name: "Move owner up" }).click();
    await expect.poll(() => headersOf(page)).not.toEqual(added);
    await page.getByRole("button", { name: "Remove Status" }).click();
    await expect.poll(() => headersOf(page)).not.toContain("Status");
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    const headers = await headersOf(page);
    const other = await openRuns(page.url().slice(pages().url.length));
    await expect.poll(() => headersOf(other)).toEqual(headers);
  });

  it("Z12 everything frequent has a key: move, select, eye, query, compare, open", async () => {
    const page = await openRuns("/n/demo/speech");
    await page.keyboard.press("/");
    await page.locator("input:focus[role=combobox]").waitFor();
    await grid(page).focus();
    await page.keyboard.press("j");
    await page.keyboard.press("Space");
    await page.getByText("1 selected").waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.getByText("2 selected").waitFor();
    const eye = rowsOf(page)
      .nth(2)
      .getByRole("button", { name: /in charts/ });
    await page.keyboard.press("e");
    await expect.poll(() => eye.getAttribute("aria-pressed")).toBe("false");
    // The eye is not the selection.
    expect(await rowsOf(page).nth(2).getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("x");
    await page.waitForURL(/\/compare\?runs=/);
    await page.goBack();
    await page.getByText("2 selected").waitFor();
    await rowsOf(page).first().waitFor();
    await grid(page).focus();
    await page.keyboard.press("Home");
    const [first] = await names(page);
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/r\//);
    const { runs } = await pages().cairn.runs.searchRuns({ namespace: "demo/speech", pageSize: 1 });
    expect([page.url().split("/").at(-1), first]).toEqual([runs[0]!.id, runs[0]!.name]);
  });

  it("Z9 runs appear and change by themselves", async () => {
    const page = await openRuns("/n/demo");
    await page.getByText("live", { exact: true }).first().waitFor();
    const { run } = await pages().cairn.runs.createRun({ namespace: "demo/fresh", name: "just-born" });
    await expect.poll(async () => (await names(page))[0]).toBe("just-born");
    await pages().cairn.runs.updateRun({ run: { id: run!.id }, name: "renamed" });
    await expect.poll(async () => (await names(page))[0]).toBe("renamed");
    await pages().cairn.runs.deleteRun({ run: { id: run!.id } });
    await expect.poll(async () => (await names(page))[0]).not.toBe("renamed");
  });

  it("Z10 groups show their means, fold, and are in the address", async () => {
    const page = await openRuns("/n/demo/speech/sweep");
    await page.getByRole("button", { name: "Group" }).click();
    await page.getByRole("button", { name: "depth param" }).click();
    await page.keyboard.press("Escape");
    const group = grid(page)
      .locator('[aria-expanded="true"]')
      .getByRole("button", { name: /^depth/ })
      .first();
    await group.waitFor();
    const { runs } = await pages().cairn.runs.searchRuns({
      namespace: "demo/speech/sweep",
      columns: ["params.depth"],
      pageSize: 1_000,
    });
    const depths = new Set(runs.map(({ params }) => params["depth"]));
    const rowCount = async () => Number(await grid(page).getAttribute("aria-rowcount"));
    await expect.poll(rowCount).toBe(1 + depths.size + runs.length);
    await group.click();
    await expect.poll(rowCount).toBeLessThan(1 + depths.size + runs.length);
    await expect.poll(() => rowsOf(page).first().innerText()).toMatch(/±/);
    await expectAccessible(page);
    await page.reload();
    await grid(page)
      .locator('[aria-expanded="false"]')
      .getByRole("button", { name: /^depth/ })
      .first()
      .waitFor();
  });

  it("Z13 selected runs are tagged, deleted after confirmation, and restored by undo", async () => {
    const space = `demo/bulk-${Date.now()}`;
    for (const name of ["one", "two", "three"])
      await pages().cairn.runs.createRun({ namespace: space, name });
    const page = await openRuns(`/n/${space}`);
    await page.getByRole("checkbox", { name: "Select all runs" }).check();
    await page.getByText("3 selected").waitFor();
    await page.getByRole("button", { name: "Tag", exact: true }).click();
    await page.getByLabel("Tag", { exact: true }).fill("team");
    await page.getByLabel("Value").fill("asr");
    await page.getByRole("button", { name: "Set the tag" }).click();
    await page.getByText("3 runs were tagged.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Close" }).last().click();
    const tagged = await pages().cairn.runs.searchRuns({ namespace: space, query: 'tags.team = "asr"' });
    expect(tagged.totalCount).toBe(3n);
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Delete 3 runs" }).click();
    await page.getByText("3 runs were moved to the trash.").waitFor();
    expect((await pages().cairn.runs.searchRuns({ namespace: space })).totalCount).toBe(0n);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByText("3 runs were restored.").waitFor();
    expect((await pages().cairn.runs.searchRuns({ namespace: space })).totalCount).toBe(3n);
  });

  it("Z15 hostile names are text, long ones are cut off, and formulas in them do not run", async () => {
    const space = `demo/hostile-${Date.now()}`;
    const name = "<img src=x onerror=alert(1)>\u202egnp.exe 👩‍🔬";
    await pages().cairn.runs.createRun({
      namespace: space,
      name,
      params: { long: JSON.stringify("x".repeat(10_000)), "a b.c": '"\\u0000\\u202e"' },
      tags: { "=cmd": "=1+1" },
    });
    const page = await openRuns(
      `/n/${space}?cols=${encodeURIComponent(JSON.stringify(["params.long", 'params."a b".c', 'tags."=cmd"']))}`,
    );
    await expect.poll(() => names(page)).toEqual(["<img src=x onerror=alert(1)>⟨U+202E⟩gnp.exe 👩‍🔬"]);
    await expect.poll(() => rowsOf(page).first().innerText()).toContain("⟨U+0000⟩⟨U+202E⟩");
    expect((await rowsOf(page).first().boundingBox())!.height).toBe(28);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: /as CSV/ }).click(),
    ]);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    expect(Buffer.concat(chunks).toString()).toContain(",'=1+1,");
  });

  it("Z16 an unknown namespace and one without runs are useful screens", async () => {
    const page = await pages().open("/n/no/such/place");
    await page.getByText(/Unknown namespace/).waitFor();
    pages().forgive(/status of 404/);
    const path = `demo/void-${Date.now()}`;
    await pages().cairn.namespaces.createNamespace({ path });
    const other = await pages().open(`/n/${path}`);
    await other.getByText("No runs yet").waitFor();
    await pages().cairn.runs.createRun({ namespace: path, name: "first" });
    await expect.poll(() => names(other)).toEqual(["first"]);
  });

  it("Z71 a tab that was suspended and removed gets changes again, also missed ones", async () => {
    const space = "demo/sleeper";
    await pages().cairn.runs.createRun({ namespace: space, name: "before" });
    const page = await openRuns(`/n/${space}`);
    await page.getByText("live", { exact: true }).first().waitFor();
    // What the worker does with a tab that is silent for minutes, it does with one that says goodbye.
    await page.evaluate(`window.dispatchEvent(new PageTransitionEvent("pagehide", { persisted: true }))`);
    await pages().cairn.runs.createRun({ namespace: space, name: "meanwhile" });
    await page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`);
    await expect.poll(() => names(page)).toContain("meanwhile");
    await pages().cairn.runs.createRun({ namespace: space, name: "after" });
    await expect.poll(() => names(page)).toContain("after");
    // Other parts of the page are notified, too, such as the tree.
    const inTree = page.getByRole("navigation").getByRole("link", { name: /sleeper/ });
    await expect.poll(() => inTree.innerText()).toMatch(/\b3\b/);
  });

  it.each(["a shared worker", "the page itself"])(
    "Z71 a list is read once, and a change before the watch of %s has begun is shown",
    async (holder) => {
      const name = holder.replaceAll(" ", "-");
      const space = `demo/${name}`;
      const { run } = await pages().cairn.runs.createRun({ namespace: space, name: "before" });
      const context = await pages().newContext();
      if (holder === "the page itself") await context.addInitScript("delete globalThis.SharedWorker");
      const page = await context.newPage();
      const searches: string[] = [];
      page.on("request", (request) => {
        if (request.url().includes("/SearchRuns")) searches.push(request.url());
      });
      // Requests of a shared worker cannot be held: there, the change comes afterwards.
      const { promise: changed, resolve: proceed } = Promise.withResolvers<void>();
      const { promise: held, resolve: hold } = Promise.withResolvers<void>();
      await page.route("**/cairn.v1.WatchService/Watch", async (route) => {
        hold();
        await changed;
        await route.continue();
      });
      await page.goto(`${pages().url}/n/${space}`);
      await expect.poll(() => names(page)).toEqual(["before"]);
      if (holder === "the page itself") await held;
      else await page.getByText("live", { exact: true }).first().waitFor();
      await pages().cairn.runs.updateRun({ run: { id: run!.id }, name: "renamed" });
      proceed();
      await expect.poll(() => names(page)).toEqual(["renamed"]);
      // The tree is read again at most once a second: by then, the list would have been, too.
      const beside = page.getByRole("navigation").getByRole("link", { name: `${name}-beside` });
      for (const count of [1, 2]) {
        await pages().cairn.runs.createRun({ namespace: `${space}-beside` });
        await expect.poll(() => beside.innerText()).toMatch(new RegExp(`\\b${count}\\b`));
      }
      expect(searches).toHaveLength(1);
      await page.unrouteAll({ behavior: "ignoreErrors" });
    },
  );

  it("Z8 the charts follow the table", async () => {
    const page = await openRuns("/n/demo/speech/sweep");
    const charts = page.getByRole("region", { name: "Charts", exact: true });
    const [first] = await names(page);
    await charts
      .getByRole("img", { name: new RegExp(`, \\d+ lines: ${first} last`) })
      .first()
      .waitFor();
    await rowsOf(page)
      .first()
      .getByRole("button", { name: /in charts/ })
      .click();
    const [, second] = await names(page);
    await charts
      .getByRole("img", { name: new RegExp(`, \\d+ lines: ${second} last`) })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Charts", exact: true }).click();
    await charts.waitFor({ state: "detached" });
    await expect.poll(() => new URL(page.url()).searchParams.get("split")).toBe("100");
  });

  it("Z4 a jump far down shows the rows there, with their places, and the way back works", async () => {
    const space = `demo/many-${Date.now()}`;
    for (let i = 0; i < 600; i++) await pages().cairn.runs.createRun({ namespace: space, name: `many-${i}` });
    const page = await openRuns(`/n/${space}?split=100`);
    await grid(page).focus();
    await page.keyboard.press("End");
    await expect.poll(() => names(page)).toContain("many-0");
    expect(await page.locator("#row-599").getAttribute("aria-rowindex")).toBe("601");
    // Only visible rows are in the document.
    expect(await rowsOf(page).count()).toBeLessThan(80);
    await page.keyboard.press("Home");
    await expect.poll(async () => (await names(page))[0]).toBe("many-599");
  });
});
