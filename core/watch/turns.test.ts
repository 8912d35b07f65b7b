import { expect, it } from "vitest";
import { Lanes } from "./lanes.ts";
import { Turns } from "./turns.ts";

it("H8 a crowd goes through in its order, a few in each turn of the event loop", async () => {
  const turns = new Turns();
  let turn = 0;
  const count = (): void => {
    turn++;
    if (turn < 1_000) setImmediate(count);
  };
  setImmediate(count);
  const went: { who: number; turn: number }[] = [];
  await Promise.all(
    Array.from({ length: 500 }, async (_, who) => {
      await turns.take();
      went.push({ who, turn });
    }),
  );
  expect(went.map(({ who }) => who)).toEqual(Array.from({ length: 500 }, (_, who) => who));
  const perTurn = new Map<number, number>();
  for (const one of went) perTurn.set(one.turn, (perTurn.get(one.turn) ?? 0) + 1);
  expect(Math.max(...perTurn.values())).toBeLessThanOrEqual(32);
  await turns.take();
  turn = 1_000;
});

it("H8 only so many pieces of work are under way at once, and all are done", async () => {
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
