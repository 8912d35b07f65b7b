import { expect, it } from "vitest";
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
