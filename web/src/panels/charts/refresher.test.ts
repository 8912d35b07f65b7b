import { describe, expect, it } from "vitest";
import { bucketsFor } from "./panel-view.ts";
import { Refresher } from "./refresher.ts";

describe("reading again", () => {
  it("Z36 one read at a time, and a change during a read is read after it", async () => {
    const reads: string[][] = [];
    let running = 0;
    let most = 0;
    let release = (): void => {};
    const refresher = new Refresher(async (keys) => {
      most = Math.max(most, ++running);
      reads.push([...keys]);
      await new Promise<void>((resolve) => (release = resolve));
      running--;
    });
    refresher.start();
    refresher.add("a");
    refresher.add("b");
    refresher.add("c");
    expect(reads).toEqual([["a"]]);
    release();
    await expect.poll(() => reads.length).toBe(2);
    expect(reads[1]).toEqual(["b", "c"]);
    release();
    refresher.stop();
    refresher.add("d");
    expect(reads.length).toBe(2);
    expect(most).toBe(1);
  });

  it("Z36 a chart requests two buckets per pixel, fewer with very many lines", () => {
    expect(bucketsFor(640, 1)).toBe(1280);
    expect(bucketsFor(610, 1)).toBe(1280);
    expect(bucketsFor(640, 100)).toBe(120);
    expect(bucketsFor(640, 100_000)).toBe(100);
  });
});
