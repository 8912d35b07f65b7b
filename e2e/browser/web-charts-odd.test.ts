import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { Cairn } from "#sdk/client.ts";
import { startServer } from "#server/testing/servers.ts";
import { openWebFiles } from "#server/web/web-files.ts";
import { dose, seed } from "../../tools/dose.ts";
import { chartOf, isPainted, rangeOf, savedText } from "./chart-looks.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });

const ENVELOPE_POINTS = 100_000;
/** More would take longer to write, without changing what is read and drawn. */
const POINTS = dose(300_000, 2_000_000);
/** Somewhere within, with a little room on both sides. */
const SPIKE_AT = 100 + (seed % (POINTS - 200));

describe("charts of odd data", () => {
  it("Z96 very many points are a band in which a single spike is visible, and exact after zooming in", async () => {
    const { run } = await pages().cairn.runs.createRun({ namespace: "odd", name: "long" });
    for (let from = 0; from < POINTS; from += ENVELOPE_POINTS) {
      const steps = Array.from({ length: ENVELOPE_POINTS }, (_, i) => BigInt(from + i));
      const values = Array.from({ length: ENVELOPE_POINTS }, (_, i) => (from + i === SPIKE_AT ? 1_000 : 1));
      const seq = BigInt(from / ENVELOPE_POINTS + 1);
      const series = [{ key: "loss", steps, values }];
      await pages().cairn.metrics.writeEnvelope({ run: { id: run!.id }, writer: "w", seq, series });
    }
    const page = await pages().open(`/r/${run!.id}?tab=charts`);
    const chart = chartOf(page, "loss");
    await expect.poll(() => isPainted(chart), { timeout: 60_000 }).toBe(true);
    const card = page.getByRole("region", { name: "loss" });
    await card.getByText(`band of ${POINTS.toLocaleString("en")}`).waitFor();
    expect(await savedText(page, "loss", "Save data as CSV")).toMatch(/,1000\r\n/);
    await page.goto(`${pages().url}/r/${run!.id}?tab=charts&range=${SPIKE_AT - 50}..${SPIKE_AT + 50}`);
    await card.getByText("exact", { exact: true }).waitFor();
    expect(await savedText(page, "loss", "Save data as CSV")).toContain(`long,${SPIKE_AT},1000\r\n`);
  });

  it("Z96 equal, backward and missing steps, only NaN and one point are hovered, zoomed and listed without an error", async () => {
    const { run } = await pages().cairn.runs.createRun({ namespace: "odd", name: "odd" });
    const numbers = Array.from({ length: 40 }, (_, i) => i);
    const series = [
      { key: "equal", steps: numbers.map(() => 5n), values: numbers },
      { key: "backward", steps: numbers.map((i) => BigInt(40 - i)), values: numbers },
      { key: "nan", steps: numbers.map(BigInt), values: numbers.map(() => Number.NaN) },
      { key: "one", steps: [7n], values: [3.25] },
      { key: "huge", steps: [-(2n ** 53n), 2n ** 53n], values: [-Number.MAX_VALUE, Number.MAX_VALUE] },
      { key: "ranked", labels: { rank: "0" }, steps: [1n], values: [Number.NaN] },
      { key: "ranked", labels: { rank: "1" }, steps: [], values: [] },
    ].filter(({ values }) => values.length > 0);
    await pages().cairn.metrics.writeEnvelope({ run: { id: run!.id }, series });
    for (const search of ["", "&logy=true&clip=true&smooth=gauss-3", "&labels=heat&x=metric&xkey=nan"]) {
      const page = await pages().open(`/r/${run!.id}?tab=charts${search}`);
      for (const { key } of series) {
        const card = page.getByRole("region", { name: key, exact: true });
        await card.scrollIntoViewIfNeeded();
        const chart = card.getByRole("img");
        const isDrawn = chart.or(card.getByRole("button", { name: "Show by step" }));
        await isDrawn.waitFor();
        if ((await chart.count()) === 0) continue;
        await chart.hover();
        await chart.press("+");
        await chart.press("[");
        await chart.press("Enter");
        await chart.press("Escape");
        await chart.press("0");
      }
      await expectAccessible(page);
      await page.close();
    }
    const page = await pages().open(`/r/${run!.id}?tab=charts`);
    await page.getByRole("button", { name: "More about backward" }).click();
    await page.getByRole("menuitem", { name: "Show as a table" }).click();
    const table = page.getByRole("region", { name: /^backward by step/ });
    await table.getByRole("row", { name: "odd 39 0 0 39 40" }).waitFor();
  });

  it("Z96 the page waits for a restarting server: the charts stay, and are complete again with the same zoom", async () => {
    pages().forgive(
      /ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_INCOMPLETE|Failed to fetch/,
    );
    const folder = mkdtempSync(join(tmpdir(), "cairn-charts-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const web = openWebFiles()!;
    const first = await startServer(["--data", folder], { web });
    const { url } = first.listening;
    const port = new URL(url).port;
    const cairn = new Cairn({ url, token: first.newToken });
    const { run } = await cairn.runs.createRun({ namespace: "odd", name: "restarted" });
    const log = (step: number, value: number) =>
      cairn.metrics.writeEnvelope({
        run: { id: run!.id },
        series: [{ key: "loss", steps: [BigInt(step)], values: [value] }],
      });
    for (let step = 0; step < 10; step++) await log(step, step);
    const context = await pages().newContext();
    const page = await context.newPage();
    await page.goto(`${url}/r/${run!.id}?tab=charts&range=2..40`);
    await page.getByRole("img", { name: "loss by step, 1 line: restarted last 9" }).waitFor();
    await first.close();
    await page.getByText("Connection to the server lost").waitFor();
    expect(await isPainted(chartOf(page, "loss"))).toBe(true);
    const again = await startServer(["--data", folder, "--port", port], { web });
    onTestFinished(() => again.close());
    await log(20, 0.125);
    await expect.poll(() => page.getByText("Connection to the server lost").count()).toBe(0);
    await page.getByRole("img", { name: "loss by step, 1 line: restarted last 0.125" }).waitFor();
    expect(await page.getByText("not up to date").count()).toBe(0);
    expect(rangeOf(page)).toEqual([2, 40]);
    await log(21, 0.0625);
    await page.getByRole("img", { name: "loss by step, 1 line: restarted last 0.0625" }).waitFor();
  });
});
