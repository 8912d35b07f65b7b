import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { copiedText, COLOUR_RULES, expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages();

function runs(...keys: string[]): string {
  return keys.map((key) => pages().demo.ids.get(key)!).join(",");
}

async function create(name: string, more: Record<string, unknown> = {}): Promise<string> {
  const { run } = await pages().cairn.runs.createRun({ namespace: "compared", name, ...more });
  return run!.id;
}

function row(page: Page, key: string | RegExp) {
  return page.getByRole("row").filter({ has: page.getByRole("rowheader", { name: key }) });
}

async function cellsOf(page: Page, key: string | RegExp): Promise<string[]> {
  return row(page, key).getByRole("cell").allInnerTexts();
}

async function heads(page: Page): Promise<string[]> {
  await page.getByRole("table").waitFor();
  return page.locator("thead th a").allInnerTexts();
}

describe("the compare page", () => {
  it("Z57 shows differences, folds equal rows, and keeps unfolded ones in the address", async () => {
    const page = await pages().open(`/compare?runs=${runs("sweep-1", "sweep-12")}`);
    await expect.poll(() => cellsOf(page, /^lr\b/)).toEqual(["0.0001", "0.003"]);
    expect(await row(page, "optim.name").count()).toBe(0);
    const fold = page.locator("#part-params").getByRole("button", { name: /equal/ });
    await fold.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => cellsOf(page, "optim.name")).toEqual(["adamw", "adamw"]);
    await expect.poll(() => new URL(page.url()).searchParams.get("open")).toBe("params");
    await expectAccessible(page);
    await page.goBack();
    await expect.poll(() => row(page, "optim.name").count()).toBe(0);
    await page.getByRole("button", { name: "Only differences" }).click();
    await expect.poll(() => cellsOf(page, "optim.name")).toEqual(["adamw", "adamw"]);
  });

  it("Z57 has one colour per value where there are many runs, and finds a key", async () => {
    const keys = Array.from({ length: 12 }, (_, i) => `sweep-${i + 1}`);
    const page = await pages().open(`/compare?runs=${runs(...keys)}&find=depth`);
    await expect.poll(() => cellsOf(page, "depth")).toHaveLength(12);
    const colours = await row(page, "depth")
      .getByRole("cell")
      .evaluateAll((cells) => cells.map((cell) => cell.style.background));
    const values = await cellsOf(page, "depth");
    const byValue = new Map(values.map((value, i) => [value, colours[i]!]));
    expect(colours).toEqual(values.map((value) => byValue.get(value)));
    expect(new Set(byValue.values()).size).toBe(3);
    expect(byValue.get(values[0]!)).toBe("");
    expect(await row(page, /^lr\b/).count()).toBe(0);
    await expectAccessible(page);
    await page.getByRole("searchbox", { name: "Find a key" }).fill("no such key");
    await page.getByText("No matches").waitFor();
  });

  it("Z59 shows the difference of metrics to the baseline, which can be another run", async () => {
    const page = await pages().open(`/compare?runs=${runs("finetune-10", "finetune-960")}`);
    await expect.poll(() => cellsOf(page, "val/wer")).toHaveLength(2);
    const better = row(page, "val/wer").getByRole("cell").nth(1);
    await expect.poll(() => better.innerText()).toMatch(/-\d+\.\d %\s*better/);
    await page.getByRole("button", { name: "Make wav2vec-finetune-960h the baseline" }).click();
    await expect.poll(() => heads(page)).toEqual(["wav2vec-finetune-960h", "wav2vec-finetune-10h"]);
    await expect
      .poll(() => row(page, "val/wer").getByRole("cell").nth(1).innerText())
      .toMatch(/\+\d+\.\d %\s*worse/);
    await expect
      .poll(() => new URL(page.url()).searchParams.get("base"))
      .toBe(pages().demo.ids.get("finetune-960"));
    await page.getByRole("combobox", { name: "Value" }).click();
    await page.getByRole("option", { name: "mean" }).click();
    await expect.poll(() => row(page, "val/wer").getByRole("rowheader").innerText()).toContain("mean");
    await expect.poll(() => new URL(page.url()).searchParams.get("stat")).toBe("mean");
  });

  it("Z55 adds and removes runs, and a copied link shows the same elsewhere", async () => {
    const page = await pages().open(`/compare?runs=${runs("sweep-1")}`);
    await expect.poll(() => heads(page)).toEqual(["sweep-001"]);
    await page.getByRole("button", { name: "Add run" }).click();
    await page.getByRole("textbox", { name: "Name or id of a run" }).fill("SWEEP-005");
    await page
      .getByRole("listitem")
      .getByRole("button", { name: /sweep-005/ })
      .click();
    await page.keyboard.press("Escape");
    await expect.poll(() => heads(page)).toEqual(["sweep-001", "sweep-005"]);
    await page.getByRole("button", { name: "Remove sweep-001" }).click();
    await expect.poll(() => heads(page)).toEqual(["sweep-005"]);
    await page.goBack();
    await expect.poll(() => heads(page)).toEqual(["sweep-001", "sweep-005"]);
    await page.getByRole("searchbox", { name: "Find a key" }).fill("lr");
    await pages().context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await expect.poll(() => page.url()).toContain("find=lr");
    await page.getByRole("button", { name: "Copy link" }).click();
    const link = await copiedText(page, /find=lr/);
    const other = await (await pages().newContext()).newPage();
    await other.goto(link);
    await expect.poll(() => heads(other)).toEqual(["sweep-001", "sweep-005"]);
    await expect.poll(() => cellsOf(other, "train/lr")).toHaveLength(2);
    await expect.poll(() => row(other, "depth").count()).toBe(0);
  });

  it("Z56, Z58, Z63: shows hostile names as text, equal numbers as equal, and marks in long texts", async () => {
    const words = Array.from({ length: 400 }, (_, i) => `word${i}`).join(" ");
    const params = (epochs: string, prompt: string) => ({ epochs, prompt: JSON.stringify(prompt) });
    const plain = await create("plain", { params: params("1", words), tags: { team: "a" } });
    const evil = await create("\u202Eevil<img src=x onerror=alert(1)>", {
      params: params("1.0", words.replace("word7 ", "").replace("word200", "other")),
      tags: { team: "<b>b</b>\u0007", ["k".repeat(500)]: "x" },
    });
    const page = await pages().open(`/compare?runs=${plain},${evil}&open=all`);
    await expect.poll(() => heads(page)).toEqual(["plain", "⟨U+202E⟩evil<img src=x onerror=alert(1)>"]);
    await expect.poll(() => cellsOf(page, "team")).toEqual(["a", "<b>b</b>⟨U+0007⟩"]);
    await expect.poll(() => row(page, "epochs").getByRole("rowheader").innerText()).toContain("same number");
    await expect
      .poll(() => row(page, "prompt").locator("del").allInnerTexts())
      .toEqual(["word7 ", "word200"]);
    await expect.poll(() => row(page, "prompt").locator("ins").allInnerTexts()).toEqual(["other"]);
    expect(await row(page, "prompt").getByRole("cell").nth(1).innerText()).not.toContain("word100");
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    await expectAccessible(page);
  });

  it("Z60, Z103, M7: shows uncommitted changes line by line, the commits between, and packages", async () => {
    const provenance = (commit: string, dirtyPatch: string, torch: string) => ({
      provenance: { code: { repository: "r", commit, dirtyPatch }, environment: { "package:torch": torch } },
    });
    const base = await create("clean", provenance("a".repeat(40), "", "2.6.0"));
    const patch = "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n import os\n-lr = 1\n+lr = 2\n";
    const dirty = await create("dirty", provenance("b".repeat(40), patch, "2.7.1"));
    const page = await pages().open(`/compare?runs=${base},${dirty}`);
    await expect.poll(() => cellsOf(page, "torch")).toEqual(["2.6.0", "2.7.1"]);
    await page.getByRole("button", { name: "Uncommitted changes, line by line" }).click();
    const lines = () => page.getByLabel("Changes of dirty").locator("span").allInnerTexts();
    await expect
      .poll(async () => (await lines()).map((line) => line.trimEnd()).slice(-3))
      .toEqual([" import os", "-lr = 1", "+lr = 2"]);
    const copy = page.getByRole("button", { name: /Copy: git diff/ });
    expect(await copy.getAttribute("aria-label")).toBe(`Copy: git diff ${"a".repeat(40)} ${"b".repeat(40)}`);
    await expectAccessible(page);
  });

  it("Z61 steps through media of all runs at once, and draws their curves over one another", async () => {
    const ids = runs("unet-base", "unet-wide");
    const page = await pages().open(`/compare?runs=${ids}&tab=media`);
    const images = row(page, "samples/masks.png").getByRole("img");
    await expect.poll(() => images.count()).toBe(2);
    const areDrawn = () =>
      images.evaluateAll((all: { naturalWidth?: number }[]) =>
        all.map((image) => (image.naturalWidth ?? 0) > 0),
      );
    await expect.poll(areDrawn).toEqual([true, true]);
    await expect.poll(() => row(page, "eval/confusion.json").getByText("was \\ said").count()).toBe(2);
    const before = await images.evaluateAll((all) => all.map((image) => image.getAttribute("src")));
    await page.getByRole("button", { name: "Earlier step" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("step")).not.toBeNull();
    await page.getByRole("slider", { name: "Step" }).press("Home");
    await expect
      .poll(() => images.evaluateAll((all) => all.map((image) => image.getAttribute("src"))))
      .not.toEqual(before);
    await expectAccessible(page);
    await page.getByRole("tab", { name: "Charts" }).click();
    await expect.poll(() => page.locator("canvas").count()).toBeGreaterThan(0);
    const legend = page.getByRole("list", { name: "Runs" });
    await expect.poll(() => legend.getByRole("link").count()).toBe(2);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Log y" }).click();
    await expect.poll(() => page.url()).toContain("logy");
    expect(new URL(page.url()).searchParams.get("runs")).toBe(ids);
  });

  it("Z62 leaves as a table", async () => {
    const page = await pages().open(`/compare?runs=${runs("sweep-1", "sweep-2")}`);
    await expect.poll(() => cellsOf(page, "val/wer")).toHaveLength(2);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8").split("\r\n");
    expect(lines[0]).toMatch(/^part,key,differs,sweep-001 \(\w{32}\),sweep-002 \(\w{32}\)$/);
    expect(lines).toContain("params,optim.name,no,adamw,adamw");
    expect(lines.some((line) => /^metrics,val\/wer min,yes,0\.\d+,0\.\d+$/.test(line))).toBe(true);
  });

  it("Z63 names runs it cannot read, shows the rest, and removes them", async () => {
    const page = await pages().open(
      `/compare?runs=${runs("sweep-1")},${"f".repeat(32)},<b>,${runs("sweep-2")}`,
    );
    await expect.poll(() => heads(page)).toEqual(["sweep-001", "sweep-002"]);
    const strip = page.getByRole("alert");
    await expect.poll(() => strip.innerText()).toContain(`Cannot find run "${"f".repeat(32)}"`);
    await expectAccessible(page);
    await strip.getByRole("button", { name: "Remove <b>" }).click();
    await strip.getByRole("button", { name: /^Remove f+/ }).click();
    await expect.poll(() => strip.count()).toBe(0);
    await expect.poll(() => new URL(page.url()).searchParams.get("runs")).toBe(runs("sweep-1", "sweep-2"));
    const empty = await pages().open("/compare");
    await empty.getByText("No runs to compare yet").waitFor();
    await expectAccessible(empty);
  });

  it("Z63 follows what happens to its runs", async () => {
    const quiet = await create("quiet", { tags: { stage: "one" } });
    const busy = await create("busy", { tags: { stage: "one" } });
    const page = await pages().open(`/compare?runs=${quiet},${busy}&open=all`);
    await expect.poll(() => cellsOf(page, "stage")).toEqual(["one", "one"]);
    await page.getByText("live", { exact: true }).waitFor();
    await pages().cairn.runs.updateRun({ run: { id: busy }, tags: { stage: "two" } });
    await expect.poll(() => cellsOf(page, "stage")).toEqual(["one", "two"]);
    const series = (value: number) => [{ key: "loss", steps: [1n], values: [value] }];
    await pages().cairn.metrics.writeEnvelope({ run: { id: busy }, series: series(0.5) });
    await expect.poll(() => cellsOf(page, "loss")).toEqual(["—", "0.5000"]);
  });

  it("Z63 is readable in the dark, too", async () => {
    const context = await pages().newContext({
      colorScheme: "dark",
      viewport: { width: 1920, height: 1000 },
    });
    const page = await pages().open(
      `/compare?runs=${runs("sweep-1", "sweep-5", "sweep-12")}&open=patch`,
      context,
    );
    await expect.poll(() => cellsOf(page, "val/wer")).toHaveLength(3);
    await expectAccessible(page, COLOUR_RULES);
  });
});
