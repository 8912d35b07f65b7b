import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { Picture } from "#proto/cairn/v1/key_pb.ts";
import { Direction } from "#proto/cairn/v1/namespace_pb.ts";
import { expectAccessible, useWebPages } from "./web-page.ts";

const web = useWebPages({ demo: "none" });

async function newRun(namespace: string): Promise<string> {
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
    const id = await newRun("described/here");
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
    await newRun("judged/below");
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
