import { describe, expect, it } from "vitest";
import { inBulk } from "./in-bulk.ts";

const IDS = Array.from({ length: 5_000 }, (_, i) => `r${i}`);

describe("many runs at once", () => {
  it("Z13 every run once, few at a time, with progress", async () => {
    const seen: string[] = [];
    let now = 0;
    let most = 0;
    let progress = 0;
    const result = await inBulk(
      IDS,
      async (id) => {
        most = Math.max(most, ++now);
        await Promise.resolve();
        seen.push(id);
        now--;
      },
      (done) => (progress = done),
    );
    expect({ seen: seen.toSorted(), most, progress, failed: result.failed }).toEqual({
      seen: IDS.toSorted(),
      most: 4,
      progress: 5_000,
      failed: [],
    });
  });

  it("Z13 a failure is named and the others continue", async () => {
    const fault = new Error("no");
    const result = await inBulk(
      IDS.slice(0, 50),
      (id) => (id === "r7" ? Promise.reject(fault) : Promise.resolve()),
      () => undefined,
    );
    expect(result.failed).toEqual([{ id: "r7", error: fault }]);
    expect(result.done).toHaveLength(49);
  });

  it("Z13 it stops early when everything fails, and reports that for all", async () => {
    let calls = 0;
    const act = () => {
      calls++;
      return Promise.reject(new Error("away"));
    };
    const result = await inBulk(IDS, act, () => undefined);
    expect(calls).toBeLessThan(30);
    expect(result.failed).toHaveLength(IDS.length);
  });

  it("Z19 it can be stopped: started calls are finished, the rest is not changed", async () => {
    const stop = new AbortController();
    const onProgress = (done: number) => {
      if (done >= 10) stop.abort();
    };
    const result = await inBulk(IDS, () => Promise.resolve(), onProgress, stop.signal);
    expect(result.failed).toEqual([]);
    expect(result.done.length).toBeGreaterThanOrEqual(10);
    expect(result.done.length).toBeLessThan(20);
  });
});
