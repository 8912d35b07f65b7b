import { expect, it } from "vitest";
import { Lanes } from "./lanes.ts";

it("H8 at most so many tasks run at once, and all complete", async () => {
  const lanes = new Lanes(3);
  let busy = 0;
  let most = 0;
  const work = async (n: number): Promise<number> => {
    most = Math.max(most, ++busy);
    await new Promise((resolve) => setImmediate(resolve));
    busy--;
    if (n % 5 === 0) throw new Error(`failed ${n}`);
    return n;
  };
  const done = await Promise.allSettled(Array.from({ length: 40 }, (_, n) => lanes.run(() => work(n))));
  expect(most).toBe(3);
  expect(done.filter(({ status }) => status === "rejected")).toHaveLength(8);
  expect(await lanes.run(() => work(1))).toBe(1);
  expect(most).toBe(3);
});
