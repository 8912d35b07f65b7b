import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { TrackedChanges } from "#proto/cairn/v1/run_pb.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const web = useWebPages({ demo: "none" });

async function newRun(name: string, provenance: object = {}): Promise<string> {
  const { run } = await web().cairn.runs.createRun({ namespace: "pages/made", name, provenance });
  return run!.id;
}

const provenanceOf = async (id: string) =>
  (await web().cairn.runs.getRun({ run: { id } })).provenance ?? undefined;

describe("the provenance of a run", () => {
  it("Z207 a left-out patch, untracked files and an unknown state are never a clean work tree", async () => {
    const cases = [
      [
        {
          commit: "0123456789abcdef",
          trackedChanges: TrackedChanges.SOME,
          untrackedFiles: 3,
          changedSubmodules: 0,
          patchLeftOut: "it is too large",
          leftOutBytes: 2_100_000n,
        },
        /dirty, patch left out \(2(\.\d)? M/,
      ],
      [{ commit: "0123456789abcdef", patchLeftOut: "git took longer than 500 ms" }, /unknown: git took/],
      [
        {
          commit: "0123456789abcdef",
          trackedChanges: TrackedChanges.NONE,
          untrackedFiles: 0,
          changedSubmodules: 0,
        },
        /clean$/,
      ],
    ] as const;
    for (const [code, words] of cases) {
      const id = await newRun("code", { code, command: ["true"] });
      const page = await web().open(`/r/${id}?tab=provenance`);
      const row = page.getByRole("row", { name: /Work tree/ });
      await row.waitFor();
      expect(await row.innerText()).toMatch(words);
      if (!String(words).includes("clean")) expect(await row.innerText()).not.toContain("clean");
      if ("untrackedFiles" in code && code.untrackedFiles > 0) {
        await page.getByText(/Not included: .*left out, 3 untracked files/).waitFor();
      }
      await expectAccessible(page);
    }
  });

  it("Z206 is edited by keyboard: rows are added and removed, saved, and undone", async () => {
    const id = await newRun("edited", { trainingData: ["s3://old@v1", "s3://kept"], study: "first" });
    const page = await web().open(`/r/${id}?tab=provenance`);
    const edit = page.getByRole("button", { name: "Edit", exact: true });
    await edit.focus();
    await page.keyboard.press("Enter");
    const rows = page.getByRole("group", { name: "Training data" }).getByRole("textbox");
    await expect.poll(() => rows.first().evaluate((row) => row.matches(":focus"))).toBe(true);
    await page.getByRole("button", { name: "Remove Training data 1" }).click();
    await page.getByRole("button", { name: "Add training data" }).click();
    await page.keyboard.type("s3://kept");
    await page.getByText("This is in the list already.").waitFor();
    expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await rows.nth(1).fill("s3://new@sha256:0a1b");
    await page.getByRole("textbox", { name: "Test data 1" }).fill("hf://squad@v2");
    await page.getByRole("textbox", { name: "Feature pipeline" }).fill("git@example.org:f.git@4f2a91c");
    await page.getByRole("textbox", { name: "Logs" }).fill("https://logs.example.org/7");
    await page.getByRole("textbox", { name: "Study" }).fill("second");
    await page.keyboard.press("Enter");
    await page.getByRole("row", { name: /Training data.*s3:\/\/new/ }).waitFor();
    expect(await provenanceOf(id)).toMatchObject({
      trainingData: ["s3://kept", "s3://new@sha256:0a1b"],
      testData: ["hf://squad@v2"],
      featurePipeline: "git@example.org:f.git@4f2a91c",
      logsLocation: "https://logs.example.org/7",
      study: "second",
    });
    const link = page.getByRole("link", { name: "https://logs.example.org/7" });
    expect(await link.getAttribute("rel")).toContain("noreferrer");
    await expectAccessible(page);
    await page.getByRole("button", { name: "Undo the edit" }).click();
    await page.getByRole("row", { name: /Training data.*s3:\/\/old/ }).waitFor();
    expect(await provenanceOf(id)).toMatchObject({
      trainingData: ["s3://old@v1", "s3://kept"],
      testData: [],
      featurePipeline: "",
      logsLocation: "",
      study: "first",
    });
  });

  it("Z206 what others add meanwhile stays, and cancelling changes nothing", async () => {
    const { cairn } = web();
    const id = await newRun("shared", { trainingData: ["s3://a"] });
    const page = await web().open(`/r/${id}?tab=provenance`);
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("button", { name: "Add training data" }).click();
    await page.keyboard.type("s3://c");
    await cairn.runs.updateRun({
      run: { id },
      addProvenance: { trainingData: ["s3://b"], study: "of another" },
    });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("row", { name: /Study.*of another/ }).waitFor();
    expect(await provenanceOf(id)).toMatchObject({
      trainingData: ["s3://a", "s3://b", "s3://c"],
      study: "of another",
    });
    await page.getByRole("button", { name: "Edit", exact: true }).click();
    await page.getByRole("textbox", { name: "Study" }).fill("typed in vain");
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("row", { name: /Study.*of another/ }).waitFor();
    expect((await provenanceOf(id))?.study).toBe("of another");
  });

  it("Z207 Z1 its fields are columns, and a value leads to the runs that have it", async () => {
    const { cairn } = web();
    for (const [name, study] of [
      ["one", "ablation"],
      ["two", "ablation"],
      ["three", "other"],
    ] as const) {
      const provenance = { study, trainingData: ["s3://c4@v3"], user: "al", environment: { host: "gpu1" } };
      await cairn.runs.createRun({ namespace: "pages/columns", name, provenance });
    }
    const page = await web().open("/n/pages/columns?split=100&q=order+by+study+desc");
    await page.getByRole("button", { name: /^Columns/ }).click();
    for (const field of ["creator", "user", "host", "study", "training data"]) {
      await page.getByRole("textbox", { name: "Find a column" }).fill(field);
      await page.getByRole("button", { name: new RegExp(`^${field} (provenance|run)$`) }).click();
    }
    await page.keyboard.press("Escape");
    const first = page.locator("#row-0");
    await expect
      .poll(() => first.innerText())
      .toMatch(/three[\s\S]*al[\s\S]*gpu1[\s\S]*other[\s\S]*s3:\/\/c4@v3/);
    await page.reload();
    await expect.poll(() => first.innerText()).toMatch(/gpu1[\s\S]*other/);
    await page.locator("#row-1 a").click();
    await page.getByRole("tab", { name: "Provenance" }).click();
    await page.getByRole("row", { name: /Study/ }).hover();
    await page.getByRole("link", { name: "Runs with this study" }).click();
    await page.getByText("2 runs match").waitFor();
    expect(new URL(page.url()).searchParams.get("q")).toBe('study = "ablation"');
  });
});

describe("the lineage of a run", () => {
  it("Z208 what its provenance names has its role there, and a named run is a link", async () => {
    const base = await newRun("base");
    const id = await newRun("tuned", { initialState: base, trainingData: ["s3://c4@v3"] });
    const page = await web().open(`/r/${id}?tab=lineage`);
    const graph = page.getByRole("region", { name: "Lineage graph" });
    await graph.locator("text", { hasText: "training data" }).waitFor();
    await graph.locator("text", { hasText: "initial state" }).waitFor();
    // Also for those who do not see the picture.
    await graph
      .getByRole("listitem")
      .filter({ hasText: /base.*initial state/s })
      .waitFor({ state: "attached" });
    await graph.getByText("v3", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Provenance pipeline" }).click();
    const dialog = page.getByRole("dialog", { name: "Provenance pipeline" });
    await dialog.getByText("training, v3").waitFor();
    await dialog.getByRole("link", { name: "base", exact: true }).click();
    await page.waitForURL(`**/r/${base}`);
    await page.getByRole("region", { name: "Lineage" }).getByText("initial state").waitFor();
  });
});

async function loggedRun(namespace: string): Promise<string> {
  const { cairn } = web();
  const { run } = await cairn.runs.createRun({ namespace, name: "first" });
  await cairn.metrics.writeEnvelope({
    run: { id: run!.id },
    series: [
      { key: "val/acc", steps: [1n, 2n, 3n], values: [0.4, 0.5, 0.6] },
      { key: "loss", steps: [1n, 2n, 3n], values: [3, 2, 1] },
    ],
  });
  return run!.id;
}

async function choose(page: Page, label: string, option: string): Promise<void> {
  await page.getByRole("dialog").getByRole("combobox", { name: label }).click();
  await page.getByRole("option", { name: option, exact: true }).click();
}

describe("descriptions of metrics", () => {
  it("Z202 Z201 a metric is described from its chart, which then has its unit, direction and range", async () => {
    const id = await loggedRun("described/here");
    const page = await web().open(`/r/${id}?tab=charts`);
    const card = page.getByRole("region", { name: "val/acc" });
    await card.getByRole("img", { name: /^val\/acc by/ }).waitFor();
    await card.getByRole("button", { name: "More about val/acc" }).click();
    await page.getByRole("menuitem", { name: "Describe …" }).click();
    const dialog = page.getByRole("dialog", { name: "Describe val/acc" });
    // The first field has the focus.
    await page.keyboard.type("top-1 of the test set");
    await dialog.getByRole("textbox", { name: "Unit" }).fill("share");
    await dialog.getByRole("textbox", { name: "Smallest value" }).fill("nothing");
    await dialog.getByText("Not a number.").waitFor();
    expect(await dialog.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
    await expectAccessible(page);
    await dialog.getByRole("textbox", { name: "Smallest value" }).fill("0");
    await dialog.getByRole("textbox", { name: "Largest value" }).fill("1");
    await choose(page, "Direction", "higher is better");
    await choose(page, "Drawn as", "share of one, 0 to 1");
    await dialog.getByRole("textbox", { name: "Unit" }).press("Enter");
    await dialog.waitFor({ state: "detached" });
    await card.getByText("↑ share", { exact: true }).waitFor();
    await card.getByRole("img", { name: "higher is better" }).waitFor();
    const { keys } = await web().cairn.metrics.listKeys({ namespace: "described/here" });
    expect(keys.find(({ key }) => key === "val/acc")).toMatchObject({
      unit: "share",
      direction: Direction.MAXIMIZE,
      picture: Picture.ACCURACY,
      description: "top-1 of the test set",
      min: 0,
      max: 1,
    });
    await expectAccessible(page);
  });
});

describe("the objective of a namespace", () => {
  it("Z209 is set, changed and removed on the home page by a maintainer", async () => {
    const { cairn } = web();
    await loggedRun("judged/below");
    const page = await web().open("/");
    const row = page.getByRole("row", { name: /^judged / });
    await row.getByRole("button", { name: "Set the objective of judged" }).click();
    const dialog = page.getByRole("dialog", { name: "Objective of judged" });
    await dialog
      .getByRole("textbox", { name: "Metric" })
      .or(dialog.getByRole("combobox", { name: "Metric" }))
      .fill("val/acc");
    await expectAccessible(page);
    await choose(page, "Direction", "higher is better");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await row.getByRole("link", { name: "0.6" }).waitFor();
    const below = page.getByRole("row", { name: /^below / });
    await below.getByRole("button", { name: /val\/acc/ }).click();
    // It says where the one that applies comes from.
    await page.getByText(/Now the objective of judged applies/).waitFor();
    await page.keyboard.press("Escape");
    const of = async () => (await cairn.namespaces.getNamespace({ path: "judged" })).objective;
    expect(await of()).toMatchObject({ metric: "val/acc", direction: Direction.MAXIMIZE });
    await row.getByRole("button", { name: /val\/acc/ }).click();
    await dialog.getByRole("button", { name: "Remove the objective" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await of()).toBeUndefined();
    await row.getByRole("button", { name: "Set the objective of judged" }).waitFor();
    await expectAccessible(page);
  });
});
