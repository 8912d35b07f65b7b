import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { SeriesKind } from "#proto/cairn/v1/metric_pb.ts";
import { chartOf, isPainted, rangeOf, savedText, settingOf } from "./chart-looks.ts";
import { expectAccessible, hoverUntil, useWebPages } from "./web-page.ts";

const pages = useWebPages();

const steps = (count: number) => Array.from({ length: count }, (_, i) => BigInt(i));

async function openCharts(runId: string, search = ""): Promise<Page> {
  return await pages().open(`/r/${runId}?tab=charts${search}`);
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
    await pinned.getByText("No matches").waitFor();
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

  it("Z37 all settings are in the address, and a reload shows the same", async () => {
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
  });

  it("Z37 by keyboard alone: crosshair, zoom, reset, and the figures as a table", async () => {
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
      ["Save as PNG", ".PNG"],
      ["Save as SVG", "<svg "],
      ["Save data as CSV", "run,step,train/loss"],
    ] as const) {
      expect(await savedText(page, "train/loss", item)).toMatch(new RegExp(`^${begins}`));
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

  it("Z93 labels are drawn as their 95th percentile, or as a heat map with a legend, also in saved files", async () => {
    const id = await createRun("many-ranks");
    const series = Array.from({ length: 21 }, (_, rank) => ({
      key: "wait",
      labels: { rank: String(rank) },
      steps: steps(10),
      values: steps(10).map(() => rank),
    }));
    await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    const page = await openCharts(id, "&labels=p95");
    await page.getByRole("img", { name: "wait by step, 1 line: many-ranks last 19" }).waitFor();
    await page.getByRole("combobox", { name: "Labels" }).click();
    await page.getByRole("option", { name: "Heat map", exact: true }).click();
    await page.getByRole("img", { name: "wait by step, 21 lines" }).waitFor();
    const svg = await savedText(page, "wait", "Save as SVG");
    expect(svg).toContain(">rank=0</text>");
    // The legend ends at the lowest and highest value.
    expect(svg).toContain(">0</text>");
    expect(svg).toContain(">20</text>");
    expect(await savedText(page, "wait", "Save as PNG")).toMatch(/^.PNG/);
    const csv = await savedText(page, "wait", "Save data as CSV");
    expect(csv.split("\r\n").slice(0, 2)).toEqual(["run,step,wait", "rank=0,0,0"]);
    expect(csv.split("\r\n").length).toBe(1 + 21 * 10 + 1);
  });

  it("Z91 any metric can be x: found by name, joined by step, in the address, with unmatched points counted", async () => {
    const id = await createRun("over-tokens");
    const log = (key: string, at: bigint[], values: number[]) =>
      pages().cairn.metrics.writeEnvelope({ run: { id }, series: [{ key, steps: at, values }] });
    await log("loss", steps(10), [9, 8, 7, 6, 5, 4, 3, 2, 1, 0.5]);
    await log("tokens", [0n, 2n, 4n, 6n], [0, 200, 400, 600]);
    await log("elsewhere", [100n], [1]);
    const page = await openCharts(id);
    await chartOf(page, "loss").waitFor();
    await page.getByRole("combobox", { name: "x" }).click();
    await page.getByRole("option", { name: "Metric…" }).click();
    await page.getByRole("searchbox", { name: "Find a metric" }).fill("TOK");
    await expectAccessible(page);
    await page.keyboard.press("Enter");
    await page.getByRole("img", { name: "loss by tokens, 1 line: over-tokens last 3" }).waitFor();
    await page.getByRole("region", { name: "loss" }).getByText("exact, 6 unmatched").waitFor();
    expect([settingOf(page, "x"), settingOf(page, "xkey")]).toEqual(["metric", "tokens"]);
    const alone = page.getByRole("region", { name: "elsewhere" });
    await alone.getByText("1 points, none with a value of tokens at the same step").waitFor();
    await log("tokens", [8n], [800]);
    await page.getByRole("img", { name: "loss by tokens, 1 line: over-tokens last 1" }).waitFor();
    expect(await savedText(page, "loss", "Save data as CSV")).toContain("run,tokens,loss\r\nover-tokens,0,9");
    await page.reload();
    await page.getByRole("img", { name: "loss by tokens, 1 line: over-tokens last 1" }).waitFor();
    await alone.getByRole("button", { name: "Show by step" }).click();
    await page.getByRole("img", { name: "loss by step, 1 line: over-tokens last 0.5" }).waitFor();
    await page.goBack();
    await page.getByRole("img", { name: "loss by tokens, 1 line: over-tokens last 1" }).waitFor();
  });

  it("Z92 points replaced by a restart are drawn on demand", async () => {
    const id = await createRun("resumed");
    const log = (writer: string, at: bigint[], values: number[]) =>
      pages().cairn.metrics.writeEnvelope({
        run: { id },
        writer,
        seq: 1n,
        series: [{ key: "loss", steps: at, values }],
      });
    await log("a", steps(10), steps(10).map(Number));
    await log("b", [5n, 6n], [50, 60]);
    const page = await openCharts(id);
    await page.getByRole("img", { name: "loss by step, 1 line: resumed last 60" }).waitFor();
    await page.getByRole("button", { name: "Rewound" }).click();
    const both = "loss by step, 2 lines: resumed last 60, resumed (rewound) last 9";
    await page.getByRole("img", { name: both }).waitFor();
    expect(settingOf(page, "rewound")).toBe("true");
    await page.goBack();
    await page.getByRole("img", { name: "loss by step, 1 line: resumed last 60" }).waitFor();
  });

  it("Z94 groups since the start of each run align runs of different days, with one call", async () => {
    const days = 6;
    for (let day = 0; day < days; day++) {
      const startedUs = 1_790_000_000_000_000n + BigInt(day) * 86_400_000_000n;
      const { run } = await pages().cairn.runs.createRun({
        namespace: "days",
        name: `day-${day}`,
        startedUs,
      });
      const timesUs = steps(5).map((step) => startedUs + step * 1_000_000n);
      const values = steps(5).map((step) => Number(step) + 2 * day);
      const series = [{ key: "loss", steps: steps(5), timesUs, values }];
      await pages().cairn.metrics.writeEnvelope({ run: { id: run!.id }, series });
    }
    const page = await pages().context.newPage();
    const calls: string[] = [];
    page.on("request", (request) => calls.push(new URL(request.url()).pathname.split("/").at(-1)!));
    const charts = encodeURIComponent(JSON.stringify({ x: "relative", group: "mean-minmax" }));
    await page.goto(`${pages().url}/n/days?charts=${charts}`);
    await page.getByRole("img", { name: `loss by relative, 1 line: all ${days} runs last 9` }).waitFor();
    const reads = calls.filter((name) => name === "ReadGroups").length;
    // Once more when the chart has its width.
    expect(reads).toBeGreaterThan(0);
    expect(reads).toBeLessThan(days - 1);
  });

  it("Z95 wheel, drag and keys move charts and zoom them; the page still scrolls; Back undoes each", async () => {
    const id = await createRun("moved");
    const series = ["a", "b"].map((key) => ({
      key,
      steps: steps(1_000),
      values: steps(1_000).map((step) => Math.sin(Number(step) / 50)),
    }));
    await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    const page = await openCharts(id);
    const chart = chartOf(page, "a");
    await expect.poll(() => isPainted(chart)).toBe(true);
    const box = (await chart.boundingBox())!;
    const middle = { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await page.mouse.move(middle.x, middle.y);
    await page.keyboard.down("Control");
    await page.mouse.wheel(0, -500);
    await page.keyboard.up("Control");
    await expect.poll(() => rangeOf(page)).toBeDefined();
    const near = rangeOf(page)!;
    expect(near[1] - near[0]).toBeLessThan(500);
    expect(near[0] < 500 && near[1] > 500).toBe(true);
    // Several turns are one step to go back. At once: a pause between two, as on a busy machine, would make them two.
    const scrollsPage = await page.evaluate(`
      const place = { clientX: ${middle.x}, clientY: ${middle.y}, bubbles: true, cancelable: true };
      const turn = () => new WheelEvent("wheel", { ...place, deltaY: -50, ctrlKey: true });
      const chart = document.elementFromPoint(place.clientX, place.clientY);
      Array.from({ length: 5 }, () => chart.dispatchEvent(turn()));
    `);
    expect(scrollsPage).toEqual(Array.from({ length: 5 }, () => false));
    await expect.poll(() => rangeOf(page)?.[0]).toBeGreaterThan(near[0]);
    await page.goBack();
    await expect.poll(() => rangeOf(page)).toEqual(near);

    await page.keyboard.down("Shift");
    await page.mouse.down();
    await page.mouse.move(middle.x + 60, middle.y + 5, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect.poll(() => rangeOf(page)?.[0]).toBeLessThan(near[0]);
    const left = rangeOf(page)!;
    expect(left[1] - left[0]).toBeCloseTo(near[1] - near[0], 0);
    // Both charts are where they should be, and sharp: nothing is shifted any more.
    for (const key of ["a", "b"]) {
      const transform = () =>
        chartOf(page, key).evaluate((element) => element.querySelectorAll("canvas")[1]!.style.transform);
      await expect.poll(transform).toBe("");
    }
    await chart.press("]");
    await expect.poll(() => rangeOf(page)?.[0]).toBeGreaterThan(left[0]);
    await page.goBack();
    await expect.poll(() => rangeOf(page)).toEqual(left);
    await page.goBack();
    await expect.poll(() => rangeOf(page)).toEqual(near);
    await page.goBack();
    await expect.poll(() => rangeOf(page)).toBeUndefined();
  });

  it("Z37 a range of y is in the address, is the same in saved files and after a reload, and is reset with the zoom", async () => {
    const id = await createRun("tall");
    const values = steps(100).map((step) => (Number(step) / 99) * 8);
    const series = ["a", "b"].map((key) => ({ key, steps: steps(100), values }));
    await pages().cairn.metrics.writeEnvelope({ run: { id }, series });
    const page = await openCharts(id);
    const yRange = () => new URL(page.url()).searchParams.get("yrange");
    const hasTick = async (key: string, tick: number) =>
      (await savedText(page, key, "SVG")).includes(`>${tick}</text>`);
    await expect.poll(() => isPainted(chartOf(page, "a"))).toBe(true);
    expect(await hasTick("a", 8)).toBe(true);
    const box = (await chartOf(page, "a").boundingBox())!;
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height * 0.5);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 2 + 2, box.y + box.height * 0.8, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect.poll(yRange).toMatch(/^a:[\d.]+\.\.[\d.]+$/);
    const chosen = yRange();
    for (let times = 0; times < 2; times++) {
      expect(await hasTick("a", 8)).toBe(false);
      expect(await hasTick("b", 8)).toBe(true);
      await page.reload();
      await expect.poll(() => isPainted(chartOf(page, "a"))).toBe(true);
    }
    expect(yRange()).toBe(chosen);
    await page.getByRole("button", { name: "Reset zoom" }).click();
    await expect.poll(yRange).toBeNull();
    await page.goBack();
    await expect.poll(yRange).toBe(chosen);
    await chartOf(page, "a").press("0");
    await expect.poll(yRange).toBeNull();
    expect(await hasTick("a", 8)).toBe(true);
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

  it("Z39 any logged data makes a useful chart: no numbers, one point, one step, texts, hostile names", async () => {
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
    await page.getByText("12,000 charts, 1 run").waitFor();
    await expect.poll(() => isPainted(chartOf(page, "layer0/w0"))).toBe(true);
    expect(await page.locator("canvas").count()).toBeLessThan(120);
    await page.getByRole("searchbox", { name: "Filter charts" }).fill("layer7/w99?");
    await page.getByText("10 charts, 1 run").waitFor();
    await expect.poll(() => isPainted(chartOf(page, "layer7/w990"))).toBe(true);
  });
});
