import { describe, expect, it } from "vitest";
import { RunStatus } from "#proto/cairn/v1/run_pb.ts";
import { allowedMs } from "../allowed-ms.ts";
import { CuttableProxy } from "../cuttable-proxy.ts";
import { useTop } from "../cli/testing/top-terminal.ts";

const SEEN_MS_MAX = 2_000;

describe("cairn top", () => {
  const { terminal, startRun, log, open } = useTop();

  it("T48 shows a run within two seconds of its first point, and its points after that", async () => {
    const { screen } = open([]);
    await expect.poll(() => screen.text).toContain("nothing is running");
    const id = await startRun("late-starter");
    const begun = performance.now();
    await log(id, 7, 0.5);
    await expect.poll(() => screen.text, { interval: 20 }).toMatch(/late-starter .* 7 .* loss 0\.5/);
    expect(performance.now() - begun).toBeLessThan(await allowedMs(SEEN_MS_MAX));
    const again = performance.now();
    for (let step = 8; step <= 20; step++) await log(id, step, 0.5 / step);
    await expect.poll(() => screen.text, { interval: 20 }).toMatch(/late-starter .* 20 .* loss 0\.025 █/);
    expect(performance.now() - again).toBeLessThan(await allowedMs(SEEN_MS_MAX));
    await terminal.client.runs.updateRun({ run: { id }, status: RunStatus.FAILED });
    await expect.poll(() => screen.text).toContain("✗ late-starter");
  });

  it("T48 follows a run that started between its first read and the watch", async () => {
    let early: string | undefined;
    const proxy = await CuttableProxy.open(terminal.server.url, async (bytes) => {
      if (early === undefined && bytes.includes("WatchService/Watch")) {
        early = "on its way";
        early = await startRun("in-between");
        await log(early, 1, 1);
      }
      return false;
    });
    const { screen } = open([], { env: { CAIRN_SERVER: proxy.url } });
    await expect.poll(() => screen.text).toMatch(/in-between .* loss 1 /);
    const begun = performance.now();
    await log(early!, 2, 0.25);
    await expect.poll(() => screen.text, { interval: 20 }).toMatch(/in-between .* 2 .* loss 0\.25/);
    expect(performance.now() - begun).toBeLessThan(await allowedMs(SEEN_MS_MAX));
    await proxy.cut();
  });
});
