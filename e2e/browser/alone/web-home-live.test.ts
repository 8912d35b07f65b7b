import { describe, expect, it } from "vitest";
import { useWebPages } from "../web-page.ts";

/** A second, and another one because the shown data is read again at most once a second. */
const LIVE_MS_MAX = 2_000;
/** What a busy machine takes longer for a question and its answer, it takes that often for a change to be seen. */
const ANSWERS_MAX = 20;
const QUIET_MS = 2_500;

describe("a server with runs", () => {
  const pages = useWebPages();

  it("Z80 changes are visible within a second, without a reload", async () => {
    const page = await pages().open("/");
    await page.getByRole("banner").getByText("live", { exact: true }).waitFor();
    const asked: string[] = [];
    const name = `arrives-${Date.now()}`;
    await page.getByText("Recent runs").waitFor();
    page.on("request", (request) => asked.push(request.url()));
    await pages().cairn.runs.createRun({ namespace: "demo/live", name });
    const beganMs = performance.now();
    await page.getByRole("region", { name: "Recent runs" }).getByRole("link", { name }).waitFor();
    const tookMs = performance.now() - beganMs;
    await pages().cairn.runs.searchRuns({ pageSize: 14 });
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
    const answerMs = performance.now() - beganMs - tookMs;
    await page.getByRole("navigation", { name: "Pages and namespaces" }).getByText("live").waitFor();
    expect(tookMs).toBeLessThan(LIVE_MS_MAX + ANSWERS_MAX * answerMs);
    // Something that came before may still be read; then there is silence.
    const askedMeanwhile = async () => {
      const before = asked.length;
      await new Promise((resolve) => setTimeout(resolve, QUIET_MS));
      return asked.length - before;
    };
    await expect.poll(askedMeanwhile, { message: "requests while nothing happens" }).toBe(0);
  });
});
