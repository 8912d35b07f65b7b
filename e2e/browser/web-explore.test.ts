import type { Page } from "playwright-core";
import { beforeAll, describe, expect, it } from "vitest";
import { formatNumber } from "#lang/words/numbers.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { COLOUR_RULES, expectAccessible, useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "small" });
const SWEEP = "demo/speech/sweep";
const status = (page: Page) => page.getByRole("status", { name: "Runs that remain" });
const tab = (page: Page, name: string) => page.getByRole("tab", { name });
async function axisNames(page: Page): Promise<string[]> {
  const names = await page.getByRole("button", { name: /^Axis / }).all();
  return Promise.all(
    names.map(async (each) => (await each.getAttribute("aria-label"))!.slice("Axis ".length)),
  );
}
const searchOf = (page: Page, name: string) => new URL(page.url()).searchParams.get(name);

async function openExplore(path: string): Promise<Page> {
  const page = await pages().open(path);
  await tab(page, "Scatter").waitFor();
  return page;
}

async function countOf(query: string, namespace = SWEEP): Promise<number> {
  const { totalCount } = await pages().cairn.runs.searchRuns({ namespace, query, pageSize: 1 });
  return Number(totalCount);
}

/** Drags along an axis from one share of its height to another, 0 being its upper end. */
async function brush(page: Page, field: string, from: number, to: number): Promise<void> {
  const area = page.locator(`[data-axis="${field}"]`);
  await area.waitFor();
  const { x, y, width, height } = (await area.boundingBox())!;
  // Below the axis there is room for runs without a value.
  const at = (share: number) => y + 12 + share * (height - 52);
  await page.mouse.move(x + width / 2, at(from));
  await page.mouse.down();
  await page.mouse.move(x + width / 2, at((from + to) / 2));
  await page.mouse.move(x + width / 2, at(to));
  await page.mouse.up();
}

describe("the explore page", () => {
  it("Z64 shows params that vary and the objective of the namespace, says how many runs, and is accessible", async () => {
    const page = await openExplore(`/explore/${SWEEP}`);
    await expect.poll(() => status(page).innerText()).toBe(`${await countOf("")} runs`);
    const axes = await axisNames(page);
    expect(axes).toContain("lr");
    expect(axes.at(-1)).toBe("val/wer min");
    expect(axes).not.toContain("seed");
    await page.getByRole("button", { name: /^Objective: val\/wer min/ }).waitFor();
    await expectAccessible(page);
    await page.keyboard.press("t");
    await page.locator("html[data-theme=dark]").waitFor();
    await expectAccessible(page, COLOUR_RULES);
  });

  it("Z66 a range of an axis filters, by pointer; the count, the chip and the address show it, and Back undoes it", async () => {
    const page = await openExplore(`/explore/${SWEEP}`);
    await brush(page, "params.lr", 0.6, 1);
    const low = await countOf("params.lr < 0.0005");
    expect(low).toBeGreaterThan(0);
    await expect.poll(() => status(page).innerText()).toBe(`${low} of ${await countOf("")} runs remain`);
    const { to } = (JSON.parse(searchOf(page, "brush")!) as Record<string, { to: number }>)["params.lr"]!;
    expect(await countOf(`params.lr <= ${to}`)).toBe(low);
    const other = await openExplore(page.url().slice(pages().url.length));
    await expect.poll(() => status(other).innerText()).toContain(`${low} of`);
    await page.goBack();
    await expect.poll(() => status(page).innerText()).toBe(`${await countOf("")} runs`);
  });

  it("Z66 brushes become a query that selects exactly the remaining runs in the table", async () => {
    const page = await openExplore(
      `/explore/${SWEEP}?q=${encodeURIComponent("params.depth >= 12 or params.depth < 7")}`,
    );
    await brush(page, "params.lr", 0.6, 1);
    await expect.poll(() => status(page).innerText()).toContain("remain");
    const remaining = Number(/^\d+/.exec(await status(page).innerText())![0]);
    await page.getByRole("button", { name: "Use as query" }).click();
    await page.waitForURL(/\/n\/demo\/speech\/sweep/);
    await page.getByText(`${remaining} runs match`).waitFor();
    expect(await page.getByRole("combobox", { name: "Query" }).inputValue()).toMatch(
      /^\(params\.depth >= 12 or params\.depth < 7\) and params\.lr <= 0\.\d+$/,
    );
    await page.getByRole("link", { name: "Explore", exact: true }).last().click();
    await page.waitForURL(/\/explore\/demo\/speech\/sweep\?q=/);
    await expect.poll(() => status(page).innerText()).toBe(`${remaining} runs`);
  });

  it("Z66 filters, scales and axes are changed by keyboard alone", async () => {
    const page = await openExplore(`/explore/${SWEEP}`);
    const depth = page.getByRole("button", { name: "Axis depth" });
    await depth.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "From" }).fill("12");
    await page.keyboard.press("Enter");
    await expect.poll(() => status(page).innerText()).toContain(`${await countOf("params.depth >= 12")} of`);
    await page.getByRole("checkbox", { name: "Log axis" }).press("Space");
    await expect.poll(() => searchOf(page, "scale")).toContain('"log"');
    await expectAccessible(page);
    await page.keyboard.press("Escape");
    const before = await axisNames(page);
    await depth.focus();
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(() => axisNames(page)).not.toEqual(before);
    const after = await axisNames(page);
    expect(after.indexOf("depth")).toBe(before.indexOf("depth") + 1);
    await page.getByRole("button", { name: "Remove the filter by depth" }).press("Enter");
    await expect.poll(() => status(page).innerText()).toBe(`${await countOf("")} runs`);
    await depth.press("Enter");
    await page.getByRole("button", { name: "Remove" }).press("Enter");
    await expect.poll(() => axisNames(page)).not.toContain("depth");
    await page.getByRole("button", { name: "Add an axis" }).press("Enter");
    await page.getByRole("textbox", { name: "Find axis" }).fill("duration");
    await page.getByRole("button", { name: /^duration/ }).press("Enter");
    await expect.poll(async () => (await axisNames(page)).at(-1)).toBe("Duration");
  });

  it("Z69 the line under the pointer is named, its run opens by a click, and the figures are there as a table", async () => {
    const page = await openExplore(`/explore/${SWEEP}?table=true`);
    const figures = page.getByRole("region", { name: "Figures of the runs that remain" });
    const { runs } = await pages().cairn.runs.searchRuns({
      namespace: SWEEP,
      query: 'order by metrics."val/wer".min',
      pageSize: 1,
    });
    await expect.poll(() => figures.getByRole("link").first().innerText()).toBe(runs[0]!.name);
    const area = (await page.locator('[data-axis="metrics.val/wer.min"]').boundingBox())!;
    // The best run ends at the lower end of the last axis; a little to its left its line is the nearest.
    await page.mouse.move(area.x - 2, area.y + area.height - 42);
    const card = page.locator("b", { hasText: /^sweep-/ });
    await card.waitFor();
    const named = await card.innerText();
    await page.mouse.down();
    await page.mouse.up();
    await page.waitForURL(/\/r\//);
    await page.getByRole("heading", { name: named }).waitFor();
  });

  it("Z67 the scatter marks and lists the Pareto frontier for the chosen directions, and a box filters", async () => {
    const page = await openExplore(
      `/explore/${SWEEP}?tab=scatter&x=duration&y=metrics.val%2Fwer.min&goalx=min`,
    );
    const panel = page.getByRole("region", { name: "Pareto frontier", exact: true });
    await panel.getByRole("link").first().waitFor();
    const { runs } = await pages().cairn.runs.searchRuns({
      namespace: SWEEP,
      columns: ["metrics.val/wer.min"],
      pageSize: 1_000,
    });
    const points = runs.flatMap(({ name, metrics, startedUs, endedUs }) => {
      const y = metrics["val/wer.min"];
      return y === undefined ? [] : [{ name, x: Number(endedUs - startedUs), y }];
    });
    const best = points.filter(
      (a) => !points.some((b) => b.x <= a.x && b.y <= a.y && (b.x < a.x || b.y < a.y)),
    );
    await expect
      .poll(async () => new Set(await panel.getByRole("link").allInnerTexts()))
      .toEqual(new Set(best.map(({ name }) => name)));
    await expectAccessible(page);
    await page.getByRole("combobox", { name: "Which way x is better" }).click();
    await page.getByRole("option", { name: "no direction" }).click();
    await expect.poll(() => panel.getByRole("link").count()).toBe(0);
    const { x, y, width, height } = (await page.locator('[data-surface="scatter"]').boundingBox())!;
    await page.mouse.move(x + 100, y + height * 0.6);
    await page.mouse.down();
    await page.mouse.move(x + width * 0.5, y + height * 0.8);
    await page.mouse.move(x + width - 30, y + height - 55);
    await page.mouse.up();
    await expect.poll(() => status(page).innerText()).toContain("remain");
    expect(Object.keys(JSON.parse(searchOf(page, "brush")!) as object).toSorted()).toEqual([
      "duration",
      "metrics.val/wer.min",
    ]);
  });

  it("Z68 importance is computed by the server for the remaining runs; constant params are folded, and it is not called a cause", async () => {
    const answer = (query: string) =>
      pages().cairn.explore.getImportance({ runs: { namespace: SWEEP, query } });
    const rowsOf = ({ params }: Awaited<ReturnType<typeof answer>>) =>
      params.map(({ key, strength }) => [key, formatNumber(strength, { even: true })]);
    const filters = encodeURIComponent('{"params.lr":{"to":0.0005}}');
    const page = await openExplore(`/explore/${SWEEP}?tab=importance&brush=${filters}`);
    const rows = page.getByRole("region", { name: "Importance of params" }).locator("tbody tr");
    const shown = async () => {
      const keys = await rows.locator("th").allInnerTexts();
      const values = await rows.locator("td:nth-of-type(2)").allInnerTexts();
      return keys.map((key, i) => [key, values[i]]);
    };
    await expect.poll(shown).toEqual(rowsOf(await answer("params.lr <= 0.0005")));
    await page.getByRole("button", { name: "Remove the filter by lr" }).click();
    await expect.poll(shown).toEqual(rowsOf(await answer("")));
    await page.getByText("It is association, not cause").waitFor();
    await page.getByText(/^The same in all these runs: \d+ params?$/).click();
    await expectAccessible(page);
    await rows.getByRole("button", { name: "lr", exact: true }).click();
    await expect.poll(() => searchOf(page, "tab")).toBe("scatter");
    expect(searchOf(page, "x")).toBe("params.lr");
  });

  it("Z69 facets show curves or final values per value of a property, with figures", async () => {
    const page = await openExplore(`/explore/${SWEEP}?tab=facets&cols=params.lr&hue=params.depth`);
    const cells = page.getByRole("region", { name: /^lr / });
    await expect.poll(() => cells.count()).toBe(4);
    await cells.first().getByRole("img").waitFor();
    await expectAccessible(page);
    await page.getByRole("combobox", { name: "Cells show" }).click();
    await page.getByRole("option", { name: "final values" }).click();
    await page
      .getByRole("img", { name: /values of val\/wer min/ })
      .first()
      .waitFor();
    await page.getByRole("button", { name: "Figures" }).click();
    const figures = page.getByRole("table", { name: "Figures of the cells" });
    const counts = await figures.locator("tbody tr td:nth-of-type(2)").allInnerTexts();
    expect(counts.map(Number).reduce((sum, each) => sum + each, 0)).toBe(
      await countOf("params.lr is not null"),
    );
    await expectAccessible(page);
  });
});

describe("answers of the server", () => {
  const namespace = "answers";
  const loss = async (id: string, value: number) =>
    pages().cairn.metrics.writeEnvelope({
      run: { id },
      series: [{ key: "loss", steps: [1n], values: [value] }],
    });

  beforeAll(async () => {
    const { cairn } = pages();
    await cairn.namespaces.createNamespace({
      path: namespace,
      objective: { metric: "loss", direction: Direction.MINIMIZE },
    });
    for (let i = 0; i < 6; i++) {
      const params = { size: String(i), layers: `[${i % 2},8]` };
      const { run } = await cairn.runs.createRun({ namespace, name: `answered-${i}`, params });
      await loss(run!.id, i);
    }
  });

  it("Z67 Z68 the frontier and importance follow runs that come and change", async () => {
    const { cairn } = pages();
    const scatter = await openExplore(
      `/explore/${namespace}?tab=scatter&x=params.size&y=metrics.loss.min&goalx=max&goaly=min`,
    );
    const importance = await openExplore(`/explore/${namespace}?tab=importance`);
    const panel = scatter.getByRole("region", { name: "Pareto frontier", exact: true });
    await expect.poll(() => panel.getByRole("link").count()).toBe(6);
    const note = importance.getByText(/How strongly each param correlates with/);
    await expect.poll(() => note.innerText()).toContain("in 6 runs");
    const { run } = await cairn.runs.createRun({ namespace, name: "late", params: { size: "9" } });
    await loss(run!.id, -1);
    await expect.poll(() => panel.getByRole("link").allInnerTexts()).toEqual(["late"]);
    await expect.poll(() => note.innerText()).toContain("in 7 runs");
  });

  it("Z66 a filter that cannot be written as a query is named in place of the answer", async () => {
    const filters = encodeURIComponent('{"params.layers":{"of":["[0,8]"]}}');
    const scatter = "x=params.size&y=metrics.loss.min&goalx=max&goaly=min";
    const page = await openExplore(`/explore/${namespace}?tab=scatter&${scatter}&brush=${filters}`);
    await expect.poll(() => status(page).innerText()).toContain("3 of");
    await page.getByText(/These filters cannot be sent to the server/).waitFor();
    await tab(page, "Importance").click();
    await page.getByText("These filters cannot be sent to the server").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Remove the filter by layers" }).click();
    await page.getByRole("region", { name: "Importance of params" }).waitFor();
  });
});

describe("runs that say little", () => {
  async function write(
    namespace: string,
    runs: readonly { params?: Record<string, string>; loss?: number }[],
  ) {
    const { cairn } = pages();
    await cairn.namespaces.createNamespace({ path: namespace });
    for (const [i, { params = {}, loss }] of runs.entries()) {
      const { run } = await cairn.runs.createRun({ namespace, name: `odd-${i}`, params });
      if (loss !== undefined)
        await cairn.metrics.writeEnvelope({
          run: { id: run!.id },
          series: [{ key: "loss", steps: [1n], values: [loss] }],
        });
    }
  }

  beforeAll(async () => {
    await write("odd/none", []);
    await write("odd/one", [{ params: { lr: "0.1" }, loss: 1 }]);
    await write(
      "odd/equal",
      Array.from({ length: 6 }, () => ({ params: { lr: "0.1" }, loss: 1 })),
    );
    await write(
      "odd/nan",
      Array.from({ length: 6 }, (_, i) => ({
        params: { lr: i % 2 === 0 ? "NaN" : "Infinity" },
        loss: Number.NaN,
      })),
    );
    await write(
      "odd/texts",
      Array.from({ length: 8 }, (_, i) => ({
        params: { "name 🎙": JSON.stringify(`👩🏽‍🚀 <b>${i % 3}</b> \u202e`) },
        loss: i,
      })),
    );
  });

  it.each(["one", "equal", "nan", "texts"])(
    "Z85 every view of runs that say little is a useful screen: %s",
    async (name) => {
      const page = await openExplore(`/explore/odd/${name}`);
      const panel = page.getByRole("tabpanel");
      for (const objective of ["", "metrics.loss.min"]) {
        if (objective !== "") await page.goto(`${pages().url}/explore/odd/${name}?objective=${objective}`);
        for (const view of ["Parallel", "Scatter", "Importance", "Facets"]) {
          const chosen = tab(page, view);
          await chosen.click();
          await expect.poll(() => chosen.getAttribute("aria-selected")).toBe("true");
          await expect.poll(async () => (await panel.innerText()).trim().length).toBeGreaterThan(0);
          // The others look like one of these.
          if (objective === "" && (name === "one" || name === "texts")) await expectAccessible(page);
        }
      }
    },
  );

  it("Z85 no runs, no namespace, a wrong query, no objective and equal values are reported in place", async () => {
    const empty = await pages().open("/explore/odd/none");
    await empty.getByText("No runs yet").waitFor();
    const missing = await pages().open("/");
    let searches = 0;
    missing.on("requestfinished", (request) => {
      if (request.url().endsWith("/SearchRuns")) searches += 1;
    });
    await missing.goto(`${pages().url}/explore/odd/absent`);
    // For the runs themselves, of which there are none.
    await expect.poll(() => searches).toBeGreaterThanOrEqual(1);
    await missing.getByText(/Unknown namespace/).waitFor();
    const wrong = await pages().open("/explore/odd/one?q=%3D%3D");
    await wrong.getByRole("alert").waitFor();
    pages().forgive(/status of 40[04]/);
    const page = await openExplore("/explore/odd/equal?tab=importance&objective=metrics.loss.min");
    await page.getByText("The objective is the same in all runs").waitFor();
    const choose = await openExplore("/explore/odd/texts?tab=importance");
    await choose.getByText("An objective is required").waitFor();
    await choose.getByRole("tabpanel").getByRole("button", { name: "loss" }).click();
    await choose.getByText("differs between its values").waitFor();
  });

  it("Z64 the page is reached from everywhere: the frame, a key and the search", async () => {
    const page = await pages().open(`/n/${SWEEP}`);
    await page.getByRole("combobox", { name: "Query" }).waitFor();
    await page.locator("h1").first().waitFor({ state: "attached" });
    await page.keyboard.press("g");
    await page.keyboard.press("e");
    await page.waitForURL(new RegExp(`/explore/${SWEEP}`));
    await page
      .getByRole("navigation", { name: "Pages and namespaces" })
      .getByRole("link", { name: "Explore" })
      .waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: /Search/ }).fill("explore all");
    await page
      .getByRole("option", { name: /Explore all runs/ })
      .first()
      .click();
    await page.waitForURL(/\/explore$/);
    await tab(page, "Facets").waitFor();
  });
});
