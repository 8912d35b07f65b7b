import type { Locator, Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { expectAccessible, hoverUntil, useWebPages } from "./web-page.ts";

const pages = useWebPages();

const steps = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i));

/** The canvases of a chart hold more than a background. */
async function isPainted(chart: Locator): Promise<boolean> {
  return await chart.evaluate((element) => {
    const canvas = element.querySelectorAll("canvas")[1]!;
    if (canvas.width === 0) return false;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return data.some((part: number) => part !== 0);
  });
}

async function openCharts(runId: string, search = ""): Promise<Page> {
  return await pages().open(`/r/${runId}?tab=charts${search}`);
}

function chartOf(page: Page, key: string): Locator {
  return page.getByRole("img", { name: new RegExp(`^${key} by`) });
}

async function createRun(name: string): Promise<string> {
  return (await pages().cairn.runs.createRun({ namespace: "charts", name })).run!.id;
}

describe("charts in a browser", () => {
  it("Z37 hover shows values, a click pins them, a drag zooms, Back and a double click undo it", async () => {
    const page = await openCharts(pages().demo.ids.get("spike")!);
    const chart = chartOf(page, "train/loss");
    await expect.poll(() => isPainted(chart)).toBe(true);
    await hoverUntil(chart, 0.5, page.getByRole("tooltip").getByText(/^step [\d,]+$/));
    const box = (await chart.boundingBox())!;
    await page.mouse.down();
    await page.mouse.up();
    const pinned = page.getByRole("dialog", { name: /^Values at step/ });
    await pinned.getByRole("searchbox", { name: "Find a run" }).fill("nothing like that");
    await pinned.getByText("no run has that in its name").waitFor();
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    await pinned.waitFor({ state: "detached" });

    const read = page.waitForRequest((request) => request.url().endsWith("/ReadSeries"));
    await page.mouse.move(box.x + box.width * 0.4, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, box.y + 70, { steps: 3 });
    await page.mouse.up();
    await read;
    await expect.poll(() => new URL(page.url()).searchParams.get("range")).toMatch(/^[\d.]+\.\.[\d.]+$/);
    await page.goBack();
    await expect.poll(() => new URL(page.url()).searchParams.has("range")).toBe(false);
    await page.goForward();
    await expect.poll(() => new URL(page.url()).searchParams.has("range")).toBe(true);
    await chart.dblclick({ position: { x: box.width / 2, y: box.height / 2 } });
    await expect.poll(() => new URL(page.url()).searchParams.has("range")).toBe(false);
  });

  it("Z37 everything that is set is in the address, and a reload shows the same", async () => {
    const page = await openCharts(pages().demo.ids.get("spike")!);
    await chartOf(page, "train/loss").waitFor();
    await page.getByRole("button", { name: "Log y" }).click();
    await page.getByRole("combobox", { name: "Smoothing" }).click();
    await page.getByRole("option", { name: "Gaussian" }).click();
    await page.getByRole("searchbox", { name: "Filter charts" }).fill("/loss$/");
    await chartOf(page, "train/lr").waitFor({ state: "detached" });
    await expect
      .poll(() => Object.fromEntries(new URL(page.url()).searchParams))
      .toMatchObject({ logy: "true", smooth: "gauss-3", keys: "/loss$/" });
    await page.reload();
    await chartOf(page, "train/loss").waitFor();
    const logY = page.getByRole("button", { name: "Log y" });
    await expect.poll(() => logY.getAttribute("aria-pressed")).toBe("true");
    const amount = page.getByRole("slider", { name: "Amount of smoothing" });
    await expect.poll(() => amount.inputValue()).toBe("3");
    await expectAccessible(page);
  });

  it("Z37 by keyboard alone: crosshair, zoom, everything again, and the figures as a table", async () => {
    const page = await openCharts(pages().demo.ids.get("spike")!);
    const chart = chartOf(page, "train/loss");
    await expect.poll(() => isPainted(chart)).toBe(true);
    await chart.focus();
    await page.keyboard.press("ArrowRight");
    await page.getByRole("tooltip").waitFor();
    await page.keyboard.press("+");
    await expect.poll(() => new URL(page.url()).searchParams.has("range")).toBe(true);
    await page.keyboard.press("0");
    await expect.poll(() => new URL(page.url()).searchParams.has("range")).toBe(false);
    await page.getByRole("button", { name: "More about train/loss" }).press("Enter");
    await page.getByRole("menuitem", { name: "Show as a table" }).press("Enter");
    const table = page.getByRole("region", { name: /^train\/loss by step/ });
    await table.getByRole("columnheader", { name: "Last" }).waitFor();
    await expectAccessible(page);
  });

  it("Z37 PNG, SVG and CSV of a chart are saved", async () => {
    const page = await openCharts(pages().demo.ids.get("spike")!);
    await expect.poll(() => isPainted(chartOf(page, "train/loss"))).toBe(true);
    for (const [item, begins] of [
      ["Save as PNG", ""],
      ["Save as SVG", "<svg "],
      ["Save data as CSV", "run,step,train/loss"],
    ] as const) {
      await page.getByRole("button", { name: "More about train/loss" }).click();
      const saved = page.waitForEvent("download");
      await page.getByRole("menuitem", { name: item }).click();
      const chunks: Buffer[] = [];
      for await (const chunk of await (await saved).createReadStream()) chunks.push(chunk as Buffer);
      const content = Buffer.concat(chunks);
      if (item === "Save as PNG") expect(content.subarray(1, 4).toString("latin1")).toBe("PNG");
      else expect(content.toString()).toMatch(new RegExp(`^${begins}`));
    }
  });

  it("Z37 labels are lines, one line or a heat map; runs are lines or a group", async () => {
    const id = await createRun("ranks");
    const series = Array.from({ length: 4 }, (_, rank) => ({
      key: "wait",
      labels: { rank: String(rank) },
      steps: steps(30),
      values: steps(30).map((step) => Number(step) + 10 * rank),
    }));
    await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    const page = await openCharts(id);
    const choose = async (what: string, choice: string) => {
      await page.getByRole("combobox", { name: what }).click();
      await page.getByRole("option", { name: choice, exact: true }).click();
    };
    await page.getByRole("img", { name: "wait by step, 4 lines: rank=0 last 29, rank=1 last 39" }).waitFor();
    await choose("Labels", "Mean");
    await page.getByRole("img", { name: "wait by step, 1 line: ranks last 44" }).waitFor();
    await choose("Labels", "Heat map");
    const chart = chartOf(page, "wait");
    await expect.poll(() => isPainted(chart)).toBe(true);
    await hoverUntil(chart, 0.05, page.getByRole("tooltip").getByText("rank=0"));
    await choose("Lines", "Mean, min to max");
    await page.getByRole("img", { name: "wait by step, 1 line: 1 run last 44" }).waitFor();
    await expectAccessible(page);
  });

  it("Z38 a point that is logged is drawn in an open page, and a new key gets a chart", async () => {
    const id = await createRun("live");
    const log = (key: string, step: bigint, value: number) =>
      pages().cairn.metrics.writeEnvelope({ run: { id }, series: [{ key, steps: [step], values: [value] }] });
    await log("loss", 1n, 0.5);
    const page = await openCharts(id);
    await page.getByRole("img", { name: /loss by step, 1 line: .* last 0\.5$/ }).waitFor();
    await log("loss", 2n, 0.25);
    await page.getByRole("img", { name: /loss by step, 1 line: .* last 0\.25$/ }).waitFor();
    await log("later/appears", 1n, 7);
    await chartOf(page, "later/appears").waitFor();
  });

  it("Z39 whatever was logged is a useful chart: no numbers, one point, one step, texts, hostile names", async () => {
    const id = await createRun("\u202eevil<img src=x onerror=alert(1)>");
    const series = [
      { key: "only-nan", steps: steps(20), values: Array.from({ length: 20 }, () => Number.NaN) },
      { key: "one-point", steps: [7n], values: [3.25] },
      { key: "same-step", steps: steps(20).map(() => 5n), values: Array.from({ length: 20 }, (_, i) => i) },
      { key: "backwards", steps: steps(20).toReversed(), values: Array.from({ length: 20 }, (_, i) => i) },
      { key: "infinite", steps: steps(4), values: [1, Infinity, -Infinity, 2] },
      {
        key: "phase",
        kind: SeriesKind.TEXT,
        steps: steps(3),
        texts: ["warm", "\u202ehot", "x".repeat(9000)],
      },
    ];
    await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    await pages().cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "no-steps", timesUs: [1_700_000_000_000_000n], values: [1] }],
    });
    const page = await openCharts(id);
    for (const { key } of series) {
      const chart = chartOf(page, key);
      await chart.scrollIntoViewIfNeeded();
      await expect.poll(() => isPainted(chart), { message: key }).toBe(true);
    }
    const lost = page.getByRole("region", { name: "no-steps" });
    await lost.getByText("none with a step").waitFor();
    await lost.getByRole("button", { name: "Show by time" }).click();
    await chartOf(page, "no-steps").waitFor();
    await expectAccessible(page);
  });

  it("Z39 12,000 metrics of one run are there, a screenful at a time", async () => {
    const id = await createRun("wide");
    for (let layer = 0; layer < 12; layer++) {
      const series = Array.from({ length: 1_000 }, (_, i) => ({
        key: `layer${layer}/w${i}`,
        steps: [1n, 2n],
        values: [i, 1],
      }));
      await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    }
    const page = await openCharts(id);
    await page.getByText("12K charts, 1 run").waitFor();
    await expect.poll(() => isPainted(chartOf(page, "layer0/w0"))).toBe(true);
    expect(await page.locator("canvas").count()).toBeLessThan(120);
    await page.getByRole("searchbox", { name: "Filter charts" }).fill("layer7/w99?");
    await page.getByText("10 charts, 1 run").waitFor();
    await expect.poll(() => isPainted(chartOf(page, "layer7/w990"))).toBe(true);
  });
});
