import { expect, it } from "vitest";
import { inParallel } from "./in-parallel.ts";

const items = Array.from({ length: 100 }, (_, at) => at);

it("T1 work on many things does all of them, so many at once", async () => {
  const done: number[] = [];
  let open = 0;
  let openMax = 0;
  await inParallel(items, 4, async (item) => {
    openMax = Math.max(openMax, ++open);
    await Promise.resolve();
    open--;
    done.push(item);
  });
  expect(done.toSorted((a, b) => a - b)).toEqual(items);
  expect(openMax).toBe(4);
});

it("T2 the first failure ends it, after what was under way", async () => {
  const begun: number[] = [];
  const work = inParallel(items, 4, async (item) => {
    begun.push(item);
    await Promise.resolve();
    if (item === 2) throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(begun.length).toBeLessThan(10);
});
