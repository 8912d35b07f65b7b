import { describe, expect, it } from "vitest";
import { PaintQueue } from "./paint-queue.ts";

describe("the paint queue", () => {
  it("Z95 every picture is drawn, the latest of each owner, a few milliseconds per frame", () => {
    const frames: (() => void)[] = [];
    let nowMs = 0;
    const queue = new PaintQueue(
      (run) => frames.push(run),
      () => nowMs,
    );
    const painted: string[] = [];
    const owners = ["a", "b", "c", "d", "gone"].map((name) => ({ name }));
    const add = (index: number, version: number) =>
      queue.add(owners[index], () => {
        painted.push(owners[index].name + version);
        nowMs += 4;
      });
    for (const [i] of owners.entries()) add(i, 1);
    add(0, 2);
    queue.remove(owners[4]);
    expect(frames.length).toBe(1);
    frames.shift()!();
    expect(painted).toEqual(["a2", "b1"]);
    add(0, 3);
    while (frames.length > 0) frames.shift()!();
    expect(painted).toEqual(["a2", "b1", "c1", "d1", "a3"]);
  });
});
