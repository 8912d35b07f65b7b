import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it, onTestFinished } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startServer } from "#server/testing/servers.ts";
import { openWebFiles } from "#server/web/web-files.ts";
import { closedPort } from "../cli/testing/free-port.ts";
import { COLOUR_RULES, copiedText, expectAccessible, pressGo, useWebPages } from "./web-page.ts";

async function gauge(url: string, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, "m").exec(text)![1]);
}

const recent = (page: Page) => page.getByRole("region", { name: "Recent runs" });
const waitLive = (page: Page) => page.getByRole("banner").getByText("live", { exact: true }).waitFor();

describe("a server with runs", () => {
  const pages = useWebPages();

  it("Z80 home shows the tree with counts and best values, and the latest changes", async () => {
    const page = await pages().open("/");
    const row = page.getByRole("row", { name: /^speech / });
    await row.getByRole("link", { name: /^0\.\d+$/ }).waitFor();
    const { namespaces } = await pages().cairn.namespaces.listNamespaces({ under: "demo/speech" });
    const { subtreeRunCount, objective } = namespaces[0]!;
    await expect.poll(() => row.innerText()).toContain(String(subtreeRunCount));
    await expect.poll(() => row.innerText()).toContain(objective!.metric);
    const best = await pages().cairn.runs.searchRuns({
      namespace: "demo/speech",
      query: `metrics."${objective!.metric}".min is not null order by metrics."${objective!.metric}".min`,
      columns: [`metrics.${objective!.metric}.min`],
      pageSize: 1,
    });
    const link = row.getByRole("link", { name: /^0\.\d+$/ });
    expect(Number(await link.innerText())).toBeCloseTo(best.runs[0]!.metrics[`${objective!.metric}.min`]!, 4);
    expect(await link.getAttribute("href")).toBe(`/r/${best.runs[0]!.id}`);
    // What is set above holds here, too.
    const below = page.getByRole("row", { name: /^sweep / });
    await below.getByRole("link", { name: /^0\.\d+$/ }).waitFor();
    expect(await below.innerText()).toContain(objective!.metric);
    await expect.poll(() => recent(page).getByRole("listitem").count()).toBe(24);
    const running = await pages().cairn.runs.searchRuns({ query: 'status = "running"' });
    const now = page.getByRole("region", { name: "Running now" });
    expect(await now.getByRole("listitem").count()).toBe(Math.min(10, running.runs.length));
    await now.getByRole("link", { name: `All ${running.totalCount} running` }).click();
    await page
      .getByText(`${running.totalCount} ${running.totalCount === 1n ? "run matches" : "runs match"}`)
      .waitFor();
    await page.goBack();
    await now.waitFor();
    await expectAccessible(page);
    await page.keyboard.press("t");
    await expectAccessible(page, COLOUR_RULES);
  });

  it("Z82 all tabs of a browser share one stream, and it ends with the last of them", async () => {
    const { url, open } = pages();
    const context = await pages().newContext();
    await expect.poll(() => gauge(url, "cairn_watchers")).toBe(0);
    const tabs = [];
    for (const path of ["/", "/", "/about", "/access"]) {
      const page = await open(path, context);
      await waitLive(page);
      tabs.push(page);
    }
    await expect.poll(() => gauge(url, "cairn_watchers")).toBe(1);
    const name = `for-all-${Date.now()}`;
    await pages().cairn.runs.createRun({ namespace: "demo/live", name });
    for (const page of tabs.slice(0, 2)) await recent(page).getByRole("link", { name }).waitFor();
    for (const page of tabs) await page.close();
    await expect.poll(() => gauge(url, "cairn_watchers")).toBe(0);
  });

  it("Z75 Z83 Ctrl K finds runs, namespaces, metrics and pages by keyboard alone", async () => {
    const page = await pages().open("/");
    await waitLive(page);
    const find = async (text: string, option: RegExp) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox").fill(text);
      await page.getByRole("option", { name: option }).first().waitFor();
      await page.locator('[role="listbox"][aria-busy="false"]').waitFor();
    };
    await find("about", /About this server/);
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/about");
    await find("speech", /demo\/speech 1?\d/);
    while (!(await page.locator('[aria-selected="true"]').innerText()).startsWith("demo/speech\n")) {
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await page.waitForURL("**/n/demo/speech");
    const id = pages().demo.ids.get("spike")!;
    await find(id.slice(0, 20), /mt-pl-en-long/);
    // What was found before may still be there.
    await expect.poll(() => page.getByRole("option").count()).toBe(1);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/r/${id}`);
    await find("val/wer", /val\/wer.*metric of/s);
    await page.keyboard.press("Enter");
    await expect
      .poll(() => new URL(page.url()).searchParams.get("q"))
      .toBe("metrics.val/wer.count is not null");
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox").fill("nothing has this name");
    await page.getByText("No matches.").waitFor();
  });

  it("Z83 keys open the sheet, go to pages and change the colours; the focus is visible and restored", async () => {
    const page = await pages().open("/about");
    await waitLive(page);
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    const theme = () => page.locator("html").getAttribute("data-theme");
    const before = await theme();
    await page.keyboard.press("t");
    await expect.poll(theme).not.toBe(before);
    await pressGo(page, "h");
    await page.waitForURL(`${pages().url}/`);
    await page.goBack();
    await page.waitForURL("**/about");
    await page.keyboard.press("Tab");
    const focused = () => page.evaluate("document.activeElement.innerText") as Promise<string>;
    await expect.poll(focused).toBe("Skip to the page");
    const outline = () => page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    await expect.poll(outline).toBe("solid");
    // In a field, letters are text and not keys.
    await page.keyboard.press("Control+k");
    await page.keyboard.type("t?gh");
    await expect.poll(() => page.getByRole("combobox").inputValue()).toBe("t?gh");
    expect(page.url()).toContain("/about");
  });

  it("Z78 about shows the server's version, contents and load, and checks the data on demand", async () => {
    const page = await pages().open("/about");
    const info = await pages().cairn.system.getInfo({});
    await page.getByText(info.version, { exact: true }).waitFor();
    await page
      .getByRole("region", { name: "Contents" })
      .getByText(String(info.runCount), { exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Check the data" }).click();
    await page.getByText(/^Whole: .* points of/).waitFor();
    await page.getByRole("button", { name: "Check the audit" }).click();
    await page.getByText(/^Whole: .* entries/).waitFor();
    await page.getByText("cannot be backed up").waitFor();
    await expectAccessible(page);
  });

  it("Z85 an unknown address shows the page for unknown addresses", async () => {
    const page = await pages().open("/about");
    await page.evaluate("history.pushState({}, '', '/no/such/page')");
    await page.evaluate("dispatchEvent(new PopStateEvent('popstate'))");
    await page.getByText("Page not found").waitFor();
    await expectAccessible(page);
    pages().forgive(/status of 404/);
    const typed = await pages().open("/nowhere");
    await typed.getByText("Page not found").waitFor();
    await typed.getByRole("link", { name: "Go home" }).click();
    await recent(typed).waitFor();
  });
});

describe("an empty server", () => {
  const pages = useWebPages({ demo: "none" });

  it("Z81 Z205 the commands can be copied, with the address and the package of this server", async () => {
    const context = await pages().newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await pages().open("/", context);
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Copy the demo command" }).click();
    expect(await copiedText(page, /demo/)).toBe(`cairn demo --server ${pages().url}`);
    const { version } = await pages().cairn.system.getInfo({});
    const wheel = `${pages().url}/install/cairn_tracker-${version}-py3-none-any.whl`;
    expect(await page.getByRole("link", { name: "download it" }).getAttribute("href")).toBe(wheel);
    await page.getByRole("button", { name: "Copy the Python installation" }).click();
    expect(await copiedText(page, /pip/)).toBe(`pip install ${wheel}`);
  });

  it("Z82 a lost connection is shown, and changes meanwhile appear after the reconnect", async () => {
    const port = await closedPort();
    const folder = mkdtempSync(join(tmpdir(), "cairn-lost-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const start = () => startServer(["--port", String(port), "--data", folder], { web: openWebFiles() });
    const url = `http://127.0.0.1:${port}`;
    const cairn = new Cairn({ url });
    let server = await start();
    await cairn.runs.createRun({ name: "before" });
    const page = await (await pages().newContext()).newPage();
    await page.goto(url);
    await recent(page).getByRole("link", { name: "before" }).waitFor();
    await waitLive(page);
    await server.close();
    await page.getByText("Connection to the server lost").waitFor();
    server = await start();
    onTestFinished(() => server.close());
    await cairn.runs.createRun({ name: "after" });
    await recent(page).getByRole("link", { name: "after" }).waitFor();
    await waitLive(page);
    await expect.poll(() => page.getByText("Connection to the server lost").count()).toBe(0);
    pages().forgive(/Failed to load resource|ERR_/);
  });
});
