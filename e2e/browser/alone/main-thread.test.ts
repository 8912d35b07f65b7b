import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { goWithin } from "../go-within.ts";
import { useWebPages } from "../web-page.ts";
import { HOSTILE_FILES, HOSTILE_NOTES, type HostileText } from "./hostile-sizes.ts";
import { longestTasksMs } from "./main-thread.ts";

const TASK_MS_MAX = 500;
const web = useWebPages({ demo: "none" });

/** Every step was measured, and none kept the page busy for long. */
function expectShort(tasks: Readonly<Record<string, number>>, titles: readonly string[]): void {
  expect(Object.keys(tasks)).toEqual(titles);
  const long = Object.entries(tasks).filter(([, ms]) => !(ms > 0 && ms < TASK_MS_MAX));
  expect(Object.fromEntries(long), "the longest tasks in ms").toEqual({});
}

it("S3 Z99 notes that are small to send and large to show do not block the page", async () => {
  const page = await web().open("/about");
  const steps: Record<string, () => Promise<void>> = {};
  for (const [title, { content, as }] of Object.entries(HOSTILE_NOTES)) {
    const { run } = await web().cairn.runs.createRun({ name: title, notes: content });
    steps[title] = async () => {
      await goWithin(page, `/r/${run!.id}?tab=logs`);
      await page.getByRole("heading", { name: title }).waitFor();
      await page.getByRole("tab", { name: "Overview" }).click();
      await sign(page.getByRole("tabpanel"), as).waitFor();
    };
  }
  expectShort(await longestTasksMs(page, steps), Object.keys(HOSTILE_NOTES));
});

it("S3 Z99 files that are small to send and large to show do not block the page", async () => {
  const { run } = await web().cairn.runs.createRun({ name: "heavy" });
  const path = `/r/${run!.id}`;
  const steps: Record<string, () => Promise<void>> = {};
  for (const { name, mediaType, content, as } of HOSTILE_FILES) {
    const { status } = await web().cairn.fetch(`/artifacts/${run!.id}/${name}`, {
      method: "PUT",
      headers: { "content-type": mediaType },
      body: content,
    });
    expect(status).toBe(201);
    steps[name] = async () => {
      await goWithin(page, `${path}?tab=artifacts&artifact=${name}`);
      await page.getByRole("option", { name, selected: true }).waitFor();
      await sign(page.getByRole("tabpanel"), as).waitFor();
      // It is there and can be left.
      await page.getByRole("tab", { name: "Logs" }).click();
      await page.getByRole("tab", { name: "Logs", selected: true }).waitFor();
    };
  }
  const page = await web().open(`${path}?tab=logs`);
  await page.getByRole("tab", { name: "Logs", selected: true }).waitFor();
  expectShort(
    await longestTasksMs(page, steps),
    HOSTILE_FILES.map(({ name }) => name),
  );
});

function sign(panel: Locator, as: HostileText["as"]): Locator {
  if (as === "reason") return panel.getByText("Shown as text:");
  if (as === "frame") return panel.locator("iframe");
  if (as === "table") return panel.getByRole("table");
  if (as === "tree") return panel.getByRole("tree");
  return panel.getByText(as);
}
