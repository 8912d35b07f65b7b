import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useWebPages } from "./web-page.ts";

const web = useWebPages();

async function newRun(name: string): Promise<string> {
  const { run } = await web().cairn.runs.createRun({ namespace: "pages/logs", name });
  return run!.id;
}

async function isInSight(page: Page, name: string): Promise<boolean> {
  const box = await page.getByRole("button", { name, exact: true }).boundingBox();
  const around = await page.getByRole("log").boundingBox();
  return (
    box !== null && around !== null && box.y >= around.y && box.y + box.height <= around.y + around.height
  );
}

describe("the log of a run", () => {
  it("Z45 shows lines as they are written", async () => {
    const { cairn } = web();
    const id = await newRun("talking");
    const lines = Array.from({ length: 1_000 }, (_, i) => `line number ${i}`);
    await cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines, rank: 0 }] });
    const page = await web().open(`/r/${id}?tab=logs`);
    await page.getByText("line number 999").waitFor();
    await cairn.metrics.writeEnvelope({
      run: { id },
      log: [{ lines: ["\u001b[31mred\u001b[0m words \u202e"], stream: "stderr", rank: 1 }],
    });
    await page.getByText("red", { exact: true }).waitFor();
    await page.getByText("words ⟨U+202E⟩").waitFor();
    await page.getByText("1,001 lines").waitFor();
    // Far up, lines that were not read yet.
    await page.getByRole("log").focus();
    await page.keyboard.press("Home");
    await page.getByText("line number 3", { exact: true }).waitFor();
  });

  it("Z46 finds lines, and the next error", async () => {
    const id = web().demo.ids.get("restarted")!;
    const page = await web().open(`/r/${id}?tab=logs`);
    await page.getByLabel("Find in the log").fill("cuda");
    await page.locator("mark", { hasText: "CUDA" }).first().waitFor();
    await page.getByText(/^\d+ of \d+ lines$/).waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBe("cuda");
    await page
      .getByRole("button", { name: /^Link to line/ })
      .first()
      .click();
    await page.getByText(/^\d+ lines$/).waitFor();
    await page.getByText("CUDA out of memory").first().waitFor();
    await expect.poll(() => new URL(page.url()).searchParams.get("find")).toBeNull();
    await page.goBack();
    await page.locator("mark", { hasText: "CUDA" }).first().waitFor();
  });

  it("Z46 goes to the next error, wherever it is", async () => {
    const id = await newRun("troubled");
    const lines = Array.from({ length: 1_000 }, (_, i) => (i === 300 ? "ValueError: no good" : `fine ${i}`));
    for (let at = 0; at < 3; at++) await web().cairn.metrics.writeEnvelope({ run: { id }, log: [{ lines }] });
    const page = await web().open(`/r/${id}?tab=logs`);
    await page.getByText("3,000 lines").waitFor();
    const next = page.getByRole("button", { name: "Next error" });
    for (const line of [300, 1_300, 2_300]) {
      await next.click();
      await expect.poll(() => new URL(page.url()).searchParams.get("line")).toBe(String(line));
      await page.getByText("ValueError: no good").waitFor();
      await expect.poll(() => isInSight(page, `Link to line ${line}`)).toBe(true);
    }
    await next.click();
    await page.getByText("No error or traceback after this line.").waitFor();
  });
});
