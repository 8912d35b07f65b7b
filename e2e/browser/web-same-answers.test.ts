import fc from "fast-check";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { formatNumber } from "#lang/words/numbers.ts";
import { Verdict } from "#proto/cairn/v1/explore_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { dose } from "../../tools/dose.ts";
import { runCairn } from "../cli/testing/cairn.ts";
import { chartOf, isPainted, savedText } from "./chart-looks.ts";
import { useWebPages } from "./web-page.ts";

const pages = useWebPages({ demo: "none" });
let worlds = 0;

async function terminal(...words: string[]) {
  return runCairn(words, { env: { CAIRN_SERVER: pages().url, COLUMNS: "200" } });
}

interface Asked {
  params: Record<string, string>;
  loss: number;
}

/** A namespace of its own, with an objective and these runs. */
async function build(asked: readonly Asked[]): Promise<{ namespace: string; ids: string[] }> {
  const { cairn } = pages();
  const namespace = `world-${++worlds}`;
  const objective = { metric: "loss", direction: Direction.MINIMIZE };
  await cairn.namespaces.createNamespace({ path: namespace, objective });
  const ids: string[] = [];
  for (const [i, { params, loss }] of asked.entries()) {
    const { run } = await cairn.runs.createRun({ namespace, name: `r${i}`, params });
    await cairn.metrics.writeEnvelope({
      run: { id: run!.id },
      series: [{ key: "loss", steps: [1n], values: [loss] }],
    });
    ids.push(run!.id);
  }
  return { namespace, ids };
}

async function describeKey(namespace: string, key: string, direction: Direction): Promise<void> {
  await pages().cairn.metrics.describeKey({ description: { namespace, key, direction } });
}

async function writeRun(
  namespace: string,
  metrics: Record<string, number[]>,
  params: Record<string, string> = {},
): Promise<string> {
  const { run } = await pages().cairn.runs.createRun({ namespace, params });
  const series = Object.entries(metrics).map(([key, values]) => ({
    key,
    steps: values.map((_, i) => BigInt(i)),
    values,
  }));
  await pages().cairn.metrics.writeEnvelope({ run: { id: run!.id }, series });
  return run!.id;
}

/** The columns that the table of runs has by default. */
async function headersOf(namespace: string): Promise<string[]> {
  const page = await pages().open(`/n/${namespace}`);
  const headers = page.locator('[aria-label="Runs"][aria-rowcount]').getByRole("columnheader");
  await headers.filter({ hasText: "Started" }).waitFor({ state: "attached" });
  const texts = await headers.allInnerTexts();
  await page.close();
  return texts.map((text) => text.trim().replaceAll(/\s+/g, " "));
}

const value = fc.constantFrom(
  "1",
  "1.0",
  "1e0",
  '"1"',
  "9007199254740993",
  "9007199254740992",
  "NaN",
  "true",
  "[1,2]",
  "{}",
  '"a b"',
  '"true"',
  "0.30000000000000004",
);
const run = fc.record({
  params: fc.dictionary(fc.constantFrom("lr", "depth", "optim", "x"), value, { maxKeys: 4 }),
  loss: fc.integer({ min: -20_000, max: 20_000 }).map((whole) => whole / 7),
});
const someRuns = fc.array(run, { minLength: 2, maxLength: 4 });

describe("the same question has the same answer in the API, the terminal and the pages", () => {
  it("M6, Z57, T26: the differences between runs", async () => {
    await fc.assert(
      fc.asyncProperty(someRuns, async (asked) => {
        const { ids } = await build(asked);
        const api = await pages().cairn.explore.compareRuns({
          runs: ids.map((id) => ({ id })),
          stats: ["last"],
        });
        const rows = api.parts.find(({ part }) => part === 1)?.rows ?? [];
        const different = rows
          .filter(({ meaning }) => meaning.some((number) => number !== 0))
          .map(({ key, texts, text }) => [key].concat(text.map((number) => texts[number - 1] ?? "—")));
        const { json } = await terminal("diff", ...ids, "--json");
        const answer = json() as { params?: { key: string; values: (string | null)[] }[] };
        expect(
          (answer.params ?? []).map(({ key, values }) => [key].concat(values.map((one) => one ?? "—"))),
        ).toEqual(different);
        const page = await pages().open(`/compare?runs=${ids.join(",")}`);
        await page.getByRole("table").waitFor();
        expect(await paramRows(page)).toEqual(different);
        await page.close();
      }),
      { numRuns: dose(6, 60) },
    );
  });

  it("M2, M3: the best run, and the most important param", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(1_000), { minLength: 6, maxLength: 10 }), async (losses) => {
        const params = (i: number) => ({ lr: String(i), noise: String((i * 7) % 5) });
        const { namespace } = await build(losses.map((loss, i) => ({ params: params(i), loss })));
        const api = await pages().cairn.namespaces.getNamespace({ path: namespace, withBest: true });
        const shown = (await terminal("ns", "describe", namespace)).stdout;
        expect(shown).toContain(`by ${api.best!.runName}\n`);
        const home = await pages().open("/");
        const row = home.getByRole("row").filter({ hasText: namespace });
        const link = row.locator(`a[href="/r/${api.best!.runId}"]`);
        await expect.poll(() => link.innerText()).toBe(formatNumber(api.best!.value));
        await home.close();
        const found = await pages().cairn.explore.getImportance({ runs: { namespace } });
        const order = found.params.map(({ key }) => key);
        const answer = (await terminal("explore", "importance", "-n", namespace, "--json")).json() as {
          params: { key: string }[];
        };
        expect(answer.params.map(({ key }) => key)).toEqual(order);
        const page = await pages().open(`/explore/${namespace}?tab=importance`);
        await expect
          .poll(async () =>
            (await page.getByRole("rowheader").allInnerTexts()).map((text) => text.split("\n")[0]!.trim()),
          )
          .toEqual(order);
        await page.close();
      }),
      { numRuns: dose(3, 30) },
    );
  });

  it("M16, T20, T26, Z3, Z59: which direction is better, of the objective before the description", async () => {
    const { cairn } = pages();
    const namespace = `world-${++worlds}`;
    const objective = { metric: "loss", direction: Direction.MAXIMIZE };
    await cairn.namespaces.createNamespace({ path: namespace, objective });
    await describeKey(namespace, "loss", Direction.MINIMIZE);
    await describeKey(namespace, "time", Direction.MINIMIZE);
    const ids = [await writeRun(namespace, { loss: [3, 1] }), await writeRun(namespace, { loss: [2, 4] })];
    const best = { runId: ids[1], value: 4, step: 1n };
    expect(await cairn.namespaces.getNamespace({ path: namespace, withBest: true })).toMatchObject({ best });
    const { fields } = await cairn.explore.listFields({ runs: { namespace } });
    expect(fields).toMatchObject([{ key: "loss", direction: Direction.MAXIMIZE }]);
    const { keys } = await cairn.metrics.listKeys({ namespace });
    expect(keys).toMatchObject([
      { key: "loss", direction: Direction.MAXIMIZE },
      { key: "time", direction: Direction.MINIMIZE },
    ]);
    const compared = await cairn.explore.compareRuns({ runs: ids.map((id) => ({ id })) });
    const verdict = Verdict.BETTER;
    expect(compared.metrics).toMatchObject([
      { stat: "max", direction: Direction.MAXIMIZE, values: [{}, { verdict }] },
    ]);

    const diff = (await terminal("diff", ...ids, "--json")).json() as { metrics: object[] };
    expect(diff.metrics).toContainEqual(
      expect.objectContaining({ key: "loss", stat: "max", direction: "maximize", verdict: "better" }),
    );
    expect((await terminal("ls", "-n", namespace)).stdout.split("\n")[0]).toMatch(/ loss\.max$/);
    expect((await terminal("plot", ...ids, "loss")).stdout).toContain("higher is better");
    expect((await terminal("explore", "keys", "-n", namespace)).stdout).toContain("higher is better");

    expect(await headersOf(namespace)).toContain("loss max");
    const page = await pages().open(`/compare?runs=${ids.join(",")}`);
    const row = page.locator("#part-metrics").getByRole("row").filter({ hasText: "loss" });
    await row.getByTitle("higher is better").waitFor();
    expect(await row.innerText()).toMatch(/\bmax\b[^]*\b4\b[^]*best/);
    await page.close();
  });

  it("T20, Z3: the default columns without an objective", async () => {
    for (const [direction, stat] of [
      [Direction.UNSPECIFIED, "last"],
      [Direction.MINIMIZE, "min"],
      [Direction.MAXIMIZE, "max"],
    ] as const) {
      const namespace = `world-${++worlds}`;
      await describeKey(namespace, "error", direction);
      for (const i of [1, 2, 3]) {
        const params = {
          lr: `${i}`,
          seed: `${i}`,
          layers: `[${i}]`,
          data: `"/a/rather/long/path/to/data/${i}"`,
        };
        await writeRun(namespace, { error: [i] }, params);
      }
      const head = (await terminal("ls", "-n", namespace)).stdout.split("\n")[0]!;
      expect(head.split(/ +/).slice(4)).toEqual([`error.${stat}`, "lr"]);
      expect((await headersOf(namespace)).slice(-3)).toEqual([`error ${stat}`, "lr", "Started"]);
    }
  });

  it("T21, Z42: how long a run takes, also one that waits to be resumed", async () => {
    const { cairn } = pages();
    const startedUs = BigInt(Date.now() - 9_005_000) * 1_000n;
    const { run: created } = await cairn.runs.createRun({ namespace: "waiting", name: "queued", startedUs });
    const { id } = await cairn.runs.updateRun({ run: { id: created!.id }, status: RunStatus.SCHEDULED });
    const answer = await cairn.runs.searchRuns({ namespace: "waiting", query: "duration > 2h" });
    expect(answer.runs.map((found) => found.id)).toEqual([id]);
    expect((await terminal("show", id)).stdout).toContain("for 2h 30m");
    expect((await terminal("ls", "-n", "waiting", "--columns", "duration")).stdout).toContain("2h 30m");
    for (const path of [`/r/${id}`, `/compare?runs=${id}`]) {
      const page = await pages().open(path);
      await page.getByText("2h 30m").waitFor();
      await page.close();
    }
  });

  it("T42, Z94: times since the start of a run begin when it started, or at an earlier first point", async () => {
    const startedUs = 1_700_000_000_000_000n;
    for (const delayUs of [60_000_000n, -60_000_000n]) {
      const { run: created } = await pages().cairn.runs.createRun({ name: "late", startedUs });
      const { id } = created!;
      const timesUs = [0n, 1_000_000n, 5_000_000n].map((us) => startedUs + delayUs + us);
      await pages().cairn.metrics.writeEnvelope({
        run: { id },
        series: [{ key: "loss", timesUs, values: [3, 2, 1] }],
      });
      const first = Math.max(0, Number(delayUs));
      const wanted = [first, first + 1_000_000, first + 5_000_000];
      const { charts } = (await terminal("plot", id, "loss", "--x", "elapsed", "--json")).json() as {
        charts: { series: { x: number[] }[] }[];
      };
      expect(charts[0]!.series[0]!.x).toEqual(wanted);
      const page = await pages().open(`/r/${id}?tab=charts&x=relative`);
      await expect.poll(() => isPainted(chartOf(page, "loss"))).toBe(true);
      const csv = await savedText(page, "loss", "Save data as CSV");
      expect(
        csv
          .split("\r\n")
          .slice(1, -1)
          .map((row) => Number(row.split(",")[1])),
      ).toEqual(wanted);
      await page.close();
    }
  });

  it("T18, Z18: the format of sizes", async () => {
    const { ids } = await build([{ params: {}, loss: 1 }]);
    const id = ids[0]!;
    for (const sizeBytes of [1, 1023, 81_920, 123_456, 5_000_000]) {
      const init = { method: "PUT", body: new Uint8Array(sizeBytes) };
      const { status } = await pages().cairn.fetch(`/artifacts/${id}/of-${sizeBytes}`, init);
      expect(status).toBe(201);
    }
    const listed = (await terminal("artifacts", "list", id)).stdout;
    const page = await pages().open(`/r/${id}?tab=artifacts`);
    await page.getByText("of-81920").waitFor();
    const text = await page.locator("main").innerText();
    for (const [, size] of listed.matchAll(/(\d[\d.]* (?:B|KiB|MiB))/g)) expect(text).toContain(size);
    expect(text).toContain("80.0 KiB");
  });
});

async function paramRows(page: Page): Promise<string[][]> {
  const part = page.locator("#part-params");
  if ((await part.count()) === 0) return [];
  const found: string[][] = [];
  for (const row of await part.getByRole("row").all()) {
    const head = row.getByRole("rowheader");
    if ((await head.count()) !== 1 || (await head.locator("h2").count()) > 0) continue;
    const cells = await row.getByRole("cell").allInnerTexts();
    const isEqual = (await row.getAttribute("class"))?.includes("equal") === true;
    if (!isEqual) found.push([(await head.innerText()).trim(), ...cells.map((cell) => cell.trim())]);
  }
  return found;
}
